"""Game records, their file formats, and the ledger."""
