"""The text editor."""
