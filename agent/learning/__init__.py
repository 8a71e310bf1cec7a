"""What play has taught: moves whose outcome was not what was predicted, kept from game to game."""
