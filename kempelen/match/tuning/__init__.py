"""Tuning of search constants by SPSA."""
