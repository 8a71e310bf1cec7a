"""Compiled kernels for Go. Read `records` first, then `board`, `playout` and `mcts`."""
