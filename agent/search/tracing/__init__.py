"""Searches that report each step: nodes entered, values returned, cut-offs."""
