"""Search of memories, present and past: by name, by text, and by former text."""
