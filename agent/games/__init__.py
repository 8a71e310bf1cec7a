"""Small games over the Game interface: one file, one game."""
