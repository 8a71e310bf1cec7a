"""Tournament formats and their pairings."""
