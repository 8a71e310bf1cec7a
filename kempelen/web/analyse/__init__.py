"""The page for analysing positions and games."""
