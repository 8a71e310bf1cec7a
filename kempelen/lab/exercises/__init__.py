"""Exercises on search trees: generation, marking, pages."""
