"""Self-play, datasets, and the training of evaluations."""
