"""Inspections: a folder open for an audit and a review."""
