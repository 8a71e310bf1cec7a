"""Everything that decides a move."""
