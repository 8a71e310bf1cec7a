"""Recordings of searches, step by step."""
