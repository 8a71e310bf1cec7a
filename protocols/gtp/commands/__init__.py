"""The commands of GTP by subject: each module has the table of its own, COMMANDS."""
