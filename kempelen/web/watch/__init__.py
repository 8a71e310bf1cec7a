"""The page on which tournaments are watched."""
