"""Game review: moves with annotations."""
