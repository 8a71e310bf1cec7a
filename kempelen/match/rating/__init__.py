"""Compute ratings, standings and match statistics."""
