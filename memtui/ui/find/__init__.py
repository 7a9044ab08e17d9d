"""What the find screen is made of: its rows, and how a match is shown in a line."""
