"""Reproduce the tables and figures of the lecture notes."""
