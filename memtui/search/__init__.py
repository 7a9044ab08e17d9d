"""Finding memories, present and past: by their names, by what they say, and by what they once said."""
