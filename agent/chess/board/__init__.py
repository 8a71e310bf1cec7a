"""Positions, moves and move generation in the kernel."""
