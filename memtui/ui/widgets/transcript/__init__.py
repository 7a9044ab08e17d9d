"""The transcript of a chat."""
