"""Connect Four, compiled. Begin reading at `records`, then `rules`, `alphabeta` and `search`."""
