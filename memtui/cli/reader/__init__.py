"""memtui line by line, for people who hear their screen instead of seeing it.

A full-screen app redraws what a screen reader has just read. Here every answer is a line that stays where it is, every
choice has a number, and nothing moves, blinks or is colored.
"""
