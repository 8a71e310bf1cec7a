"""Training: positions from self-play, and the tuning of evaluations with them."""
