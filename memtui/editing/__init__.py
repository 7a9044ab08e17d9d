"""Saving, drafts, conflicts and templates, without a screen."""
