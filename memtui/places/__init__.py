"""Whose memory folders there are on this machine, and what is known of each kind."""
