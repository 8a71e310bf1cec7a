"""Classic search algorithms, written in Python, for any game that implements `Game`."""
