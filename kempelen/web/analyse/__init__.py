"""The page on which positions and whole games are analysed."""
