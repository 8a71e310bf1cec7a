"""Ratings, standings and match statistics."""
