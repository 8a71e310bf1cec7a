"""What a search did, in numbers, and the exception that ends it early."""

from dataclasses import dataclass


class SearchStopped(Exception):  # noqa: N818 - it reports no error
    """The search was told to stop, or has visited as many nodes as it may."""


@dataclass(slots=True)
class SearchStats:
    """The work of a search.

    nodes: positions visited, leaves among them; leaves: those where the search ends, by an
    evaluation or because the game is over. looked_at: positions whose value was asked for besides,
    to order moves, to choose among them, or to see a swing. seldepth: the deepest ply reached.
    peak_open: the most entries that an open list or a table held.
    """

    nodes: int = 0
    leaves: int = 0
    cutoffs: int = 0
    researches: int = 0
    table_hits: int = 0
    seldepth: int = 0
    peak_open: int = 0
    looked_at: int = 0

    @property
    def evaluations(self) -> int:
        """How often the value of a position was asked for, at leaves and besides."""
        return self.leaves + self.looked_at
