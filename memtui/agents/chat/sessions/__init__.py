"""Conversations as they are kept: written line by line as they happen, found again, gone on with, told, exported, run
again, and made to forget. `session.py` has the file, `records.py` what its lines say.
"""
