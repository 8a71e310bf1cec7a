"""The command line of Kempelen. Each subcommand has its own module."""

__version__ = "0.2.0"
