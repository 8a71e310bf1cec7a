"""Compiled search for Connect Four. Read `records` first, then `rules`, `alphabeta`, `search`."""
