"""The audit of a memory folder: rules, findings, and reports.

Nothing here changes anything. It looks at a folder through an `Observer`, which cannot write.
"""
