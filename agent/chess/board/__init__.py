"""Positions, move generation and their records in the kernel."""
