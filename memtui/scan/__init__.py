"""What a note hides or carries: secrets, injected instructions, invisible and unrendered text, broken syntax.

The rules are data, in `rules/*.toml`; the modules here hold what needs code. Nothing here knows the audit, the engine
or a screen.
"""
