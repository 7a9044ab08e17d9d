"""The versions of one path: what each was, when, and by whom."""
