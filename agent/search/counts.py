"""What a search did, in numbers, and the exception that ends it early."""

from dataclasses import dataclass


class SearchStopped(Exception):  # noqa: N818 - it reports no error
    """The search was told to stop, or has visited as many nodes as it may."""


@dataclass(slots=True)
class Counts:
    """The work of a search.

    nodes: positions visited, leaves among them; leaves: positions evaluated. seldepth: the
    deepest ply reached. peak_open: the most entries that an open list or a table held.
    """

    nodes: int = 0
    leaves: int = 0
    cutoffs: int = 0
    researches: int = 0
    table_hits: int = 0
    seldepth: int = 0
    peak_open: int = 0
