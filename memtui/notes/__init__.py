"""What a note says of itself: its front matter, its tags, its links, and what a reviewer should look at in it."""
