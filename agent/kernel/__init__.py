"""Code for all compiled games: decorators, code cache, workers, and the MCTS tree."""
