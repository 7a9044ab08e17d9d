"""A rendered note."""
