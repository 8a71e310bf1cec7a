"""The command line, one file a sub-command."""

__version__ = "0.1.0"
