"""Compare, trace, draw and explain search algorithms."""
