"""The chess engine: compiled board, evaluation, search and endgame tables."""
