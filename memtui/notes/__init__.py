"""The contents of a note: front matter, tags, links and formats."""
