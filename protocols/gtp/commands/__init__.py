"""The GTP commands, grouped by subject. Each module has its own table, COMMANDS."""
