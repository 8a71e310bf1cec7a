"""Statistics of a search, and the exception that stops a search."""

from dataclasses import dataclass


class SearchStopped(Exception):  # noqa: N818 - control flow, not an error
    """The search was stopped or reached its node limit."""


@dataclass(slots=True)
class SearchStats:
    """Statistics of a search.

    - `nodes`: visited positions, including leaves.
    - `leaves`: visited positions that were evaluated or in which the game was over.
    - `looked_at`: positions evaluated for move ordering, beam selection or extensions.
    - `researches`: repeated searches of a move with another window.
    - `seldepth`: the greatest ply reached.
    - `peak_open`: the maximum number of entries in an open list or a table.
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
        return self.leaves + self.looked_at
