"""Widgets: the tree, the note, the editor, the transcript, lists and panes."""
