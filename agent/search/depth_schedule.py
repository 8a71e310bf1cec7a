"""Where a search ends: progressive deepening, an odd or even horizon, and a limit of time.

Source: 'Tema 2: Búsqueda en juegos' (progressive deepening) and 'Fundamentos de IA 10' (the odd
or even horizon). All of it is for any algorithm that searches to a depth.
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
    """What the search of one level, so many plies deep, found."""

    depth: int
    found: SearchResult[Any]


def depths(depth: int, horizon: DepthParity = "any") -> range:
    """Return the depths to search one after the other, up to `depth`.

    With an odd or even horizon the same player has always moved last before a leaf, so that the
    values of the levels compare: who has just moved looks better than he is. Raises ValueError
    where no depth up to `depth` is of that kind.
    """
    first = 2 if horizon == "even" else 1
    depths = range(first, depth + 1, 1 if horizon == "any" else 2)
    if not depths:
        raise ValueError(f"there is no {horizon} depth up to {depth}; use {first} or more")
    return depths


def search_depths(
    search: Search[Move], game: Game[Move], depth: int, horizon: DepthParity = "any"
) -> Iterator[DepthResult]:
    """Search the levels one after the other and yield each that is completed.

    The last one yielded is the answer. It ends early when the search is stopped or has reached
    its limit of nodes, which is of all levels together; then there may be no level at all.
    """
    for level in depths(depth, horizon):
        try:
            found = search.search(game, level)
        except SearchStopped:
            return
        yield DepthResult(level, found)


@contextmanager
def time_limit(search: Search[Any], seconds: float) -> Iterator[None]:
    """Stop whatever the search does inside the block after so many seconds."""
    search.stopped = False
    timer = Timer(seconds, lambda: setattr(search, "stopped", True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
