"""Definitions shared by all book formats."""

DEFAULT_WEIGHT = 10
MAX_WEIGHT = 1000


class BookError(Exception):
    """A book file is invalid, unreadable or not writable. The message contains the file name."""
