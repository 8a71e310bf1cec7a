"""Learning from play: stores moves with unexpected outcomes, and games by opponent, in files."""
