"""Chess positions, moves and move generation, compiled with Numba."""
