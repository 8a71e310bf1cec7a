"""The chess engine: search backend, settings, learning and strength limits."""
