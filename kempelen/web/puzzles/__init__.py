"""The page for puzzles from the mistakes of analysed games."""
