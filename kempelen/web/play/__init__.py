"""The page to play on, against any opponent that the server lists."""
