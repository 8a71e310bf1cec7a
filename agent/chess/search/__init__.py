"""Alpha-beta, MCTS and what both share."""
