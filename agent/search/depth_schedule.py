"""Search to increasing depths, optionally only to odd or even depths, with a time limit.

At odd (or even) depths, the same player makes the last move before every leaf, so values of
different depths are comparable. Sources: the lecture notes 'Tema 2: Búsqueda en juegos'
(progressive deepening) and 'Fundamentos de IA 10' (odd or even horizon).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any, Literal, NamedTuple, TypeVar

from agent.game import Game
from agent.io.message import Message
from agent.search.search import Search, SearchResult
from agent.search.stats import SearchStopped

Move = TypeVar("Move")

DepthParity = Literal["any", "odd", "even"]


class DepthResult(NamedTuple):
    depth: int
    found: SearchResult[Any]


def depths(depth: int, horizon: DepthParity = "any") -> range:
    """Return the depths up to `depth`: all, or only odd or even ones. Raise ValueError if none."""
    first = 2 if horizon == "even" else 1
    depths = range(first, depth + 1, 1 if horizon == "any" else 2)
    if not depths:
        raise ValueError(
            Message(
                "no {} depth up to {} (depth must be at least {})", Message(horizon), depth, first
            )
        )
    return depths


def search_depths(
    search: Search[Move], game: Game[Move], depth: int, horizon: DepthParity = "any"
) -> Iterator[DepthResult]:
    """Search to increasing depths, and yield each completed result.

    The generator ends early if the search is stopped or reaches its node limit.
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
