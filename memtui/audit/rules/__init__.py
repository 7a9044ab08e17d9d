"""The audit's rule families."""
