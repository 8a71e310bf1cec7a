"""The subcommands, one module per subcommand."""
