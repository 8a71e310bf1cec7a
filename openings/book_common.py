"""What books of every kind share: how often a move is chosen, and what can be wrong with them."""

DEFAULT_WEIGHT = 10
MAX_WEIGHT = 1000


class BookError(Exception):
    """A book cannot be read or written; the message names the file and says why."""
