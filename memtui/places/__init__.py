"""Where memory folders are likely to be on this machine, and which agent each belongs to."""
