"""The classic algorithms in plain Python, over any Game."""
