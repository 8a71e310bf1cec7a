"""Define tournament formats, and pair the players."""
