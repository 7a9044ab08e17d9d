"""An audit as a text that somebody reads: one module for each format."""
