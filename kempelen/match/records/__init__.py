"""Store games in the ledger and write them to files."""
