"""What the pages of the manual take from the code, and the tests that hold them to it."""
