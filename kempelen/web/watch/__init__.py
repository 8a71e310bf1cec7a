"""The page for watching tournaments."""
