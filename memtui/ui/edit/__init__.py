"""Editing a memory: the text area, how a text becomes rows, finding, merging while one types."""
