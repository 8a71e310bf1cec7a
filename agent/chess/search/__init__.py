"""The chess searches: alpha-beta, Monte Carlo tree search (MCTS), and the code that they share."""
