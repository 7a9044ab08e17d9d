"""Differences of two texts, unified or side by side."""
