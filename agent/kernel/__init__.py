"""Compiled search code: decorators, code cache, workers, and the MCTS tree."""
