"""Reviewing a memory folder: what is wrong in it, what changed since somebody last looked, and a report of both.

Nothing here changes anything. It looks at a folder through an `Observer`, which cannot write.
"""
