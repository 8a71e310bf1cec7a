"""The laboratory: compare, trace, draw and explain search algorithms."""
