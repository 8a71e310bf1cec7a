"""The classic search algorithms, one per module."""
