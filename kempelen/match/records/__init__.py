"""Store games in the ledger (SQLite), and write them to PGN, SGF, text and JSON files."""
