"""Endgame tablebases: the built-in tables, Syzygy and Gaviota."""
