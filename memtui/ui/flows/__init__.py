"""Textual adapters of `memtui.flows`: they ask with dialogs, and report on the message line."""
