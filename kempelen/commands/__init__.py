"""The subcommands of the `kempelen` program, one module each."""
