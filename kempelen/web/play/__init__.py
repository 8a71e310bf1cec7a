"""The page for playing against the server's opponents."""
