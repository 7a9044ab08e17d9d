"""Hooks of Claude Code: who writes a memory file with its own tools, and whether a person lets it."""
