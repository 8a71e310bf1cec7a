"""The game-playing agent: games, rules, evaluations and searches."""
