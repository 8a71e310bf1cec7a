"""The chess engine: its search backend, its settings, and its limits on playing strength."""
