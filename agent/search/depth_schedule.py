"""Search to increasing depths, optionally only to odd or even depths, with a time limit.

Source: the lecture notes 'Tema 2: Búsqueda en juegos' (progressive deepening) and 'Fundamentos de
IA 10' (odd or even horizon). This module works with any algorithm that searches to a fixed depth.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any, Literal, NamedTuple, TypeVar

from agent.game import Game
from agent.search.search import Search, SearchResult
from agent.search.stats import SearchStopped

Move = TypeVar("Move")

DepthParity = Literal["any", "odd", "even"]


class DepthResult(NamedTuple):
    """The result of a search to one depth."""

    depth: int
    found: SearchResult[Any]


def depths(depth: int, horizon: DepthParity = "any") -> range:
    """Return the depths to search, in increasing order, up to `depth`.

    If `horizon` allows only odd or only even depths, the same player always makes the last move
    before a leaf. The values at different depths are then comparable, because evaluations favour
    the player who has just moved. Raise ValueError if there is no such depth.
    """
    first = 2 if horizon == "even" else 1
    depths = range(first, depth + 1, 1 if horizon == "any" else 2)
    if not depths:
        raise ValueError(f"no {horizon} depth up to {depth} (depth must be at least {first})")
    return depths


def search_depths(
    search: Search[Move], game: Game[Move], depth: int, horizon: DepthParity = "any"
) -> Iterator[DepthResult]:
    """Search to increasing depths, and yield each completed result.

    The last result is the best. The search ends early if it is stopped or if it reaches its node
    limit, which applies to the total for all depths. It may then yield no result at all.
    """
    for level in depths(depth, horizon):
        try:
            result = search.search(game, level)
        except SearchStopped:
            return
        yield DepthResult(level, result)


@contextmanager
def time_limit(search: Search[Any], seconds: float) -> Iterator[None]:
    """Stop the search if the `with` block is still running after `seconds`."""
    search.stopped = False
    timer = Timer(seconds, lambda: setattr(search, "stopped", True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
