"""The review of changes: the inbox, its marks and the verdicts on what changed since."""
