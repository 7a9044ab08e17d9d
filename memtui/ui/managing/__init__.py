"""Putting memories in order: naming, moving, copying and removing them, one or many at once."""
