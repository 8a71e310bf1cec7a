"""Endgame tablebases: ours, and Syzygy and Gaviota files."""
