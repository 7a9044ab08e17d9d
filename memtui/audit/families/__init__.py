"""The rules, a module for each family.

Each module has `RULES`, and one or both of `in_note(note, subject)`, which looks at one note alone, and
`across(subject)`, which needs the whole folder or the journal. Both yield hits; neither knows what becomes of them.
"""
