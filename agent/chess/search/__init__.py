"""Chess searches: alpha-beta and Monte Carlo tree search (MCTS)."""
