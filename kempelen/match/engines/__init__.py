"""The players of a match, and the protocols that they speak."""
