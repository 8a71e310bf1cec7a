"""Searches of Go that are limited by visits.

The nodes of a compiled search are its visits. A plain one counts the moves of its playouts as
nodes, so it is made anew for each position, with a number of playouts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from agent.clock import Clock
from agent.compiled.source import USUAL_MEANS, CompiledSource, Means
from agent.game import Game
from agent.games import catalogue
from agent.games.go import Go
from agent.limits import Info, Limits, Progress
from agent.search.searcher import GameSearcher
from agent.search.source import GameSource, LearningSearcher
from agent.search.suiting import default_algorithm
from agent.sources import source_for
from agent.threads.latch import Latch, wait_for_any

AnySource = GameSource[int] | CompiledSource[int]


@dataclass(frozen=True, slots=True)
class Searching:
    """What searches: an algorithm, as agent.search.configuration reads it, with its means.

    Without an algorithm it is a compiled search, or what suits Go until there is one.
    """

    algorithm: str | None = None
    means: Means = USUAL_MEANS

    def source(self, game: Go, report: Callable[[str], None]) -> AnySource:
        """Return what searches positions like this one.

        Raises ValueError for an algorithm that there is not, or that counts no visits.
        """
        kind = catalogue.find("go")
        source = source_for(kind, lambda: game, report, algorithm=self.algorithm, means=self.means)
        if source.most_lines is not None:
            raise ValueError(f"{self.algorithm} counts no visits of moves, which mcts does")
        return source


SEARCHING = Searching()


class VisitSource:
    """Lends a player a search for one position after the other, each a fresh one.

    report: told what the user should know.
    """

    def __init__(self, searching: Searching, report: Callable[[str], None]) -> None:
        self._searching = searching
        self._report = report
        self._source: AnySource | None = None
        self._game = Go()
        self._visits = 0
        self._lent: AnySource | None = None
        self._searcher: LearningSearcher[int] | None = None

    def prepare(self, game: Go, visits: int, stop: Latch) -> None:
        """Be ready for a position, with the most visits; wait for a compiler until `stop`."""
        if self._source is None:  # it is the same for boards of all sizes
            self._source = self._searching.source(game, self._report)
        self._game, self._visits, self._searcher = game, visits, None
        if isinstance(self._source, CompiledSource):
            self._source.start()
            wait_for_any(self._source.ready, stop)

    def searcher(self, clock: Clock[int], stop: Latch, /) -> LearningSearcher[int]:
        """Return who searches the position that was prepared."""
        assert self._source is not None
        self._lent = self._source
        searcher = self._lent.searcher(clock, stop)
        if isinstance(searcher, GameSearcher):
            means = replace(self._searching.means, playouts=self._visits)
            algorithm = self._searching.algorithm or default_algorithm(self._game)
            self._lent = Searching(algorithm, means).source(self._game, self._report)
            searcher = PlayoutSearcher(self._lent.searcher(clock, stop))
        searcher.new_game()
        self._searcher = searcher
        return searcher

    @property
    def is_plain(self) -> bool:
        """Whether the position was searched by a plain search."""
        return isinstance(self._searcher, PlayoutSearcher)

    def standing(self) -> Sequence[Info[int]]:
        """Return all lines of the position as they stand, where they can be told."""
        return () if self._searcher is None else self._searcher.progress().lines

    def give_up(self, thread: threading.Thread, /) -> str | None:
        """Give the search up if the game's code keeps it."""
        return None if self._lent is None else self._lent.give_up(thread)

    def close(self, timeout: float) -> bool:
        """End what compiles; return whether that ended within about `timeout` seconds."""
        return self._source is None or self._source.close(timeout)


class PlayoutSearcher:
    """A plain search that was made with its number of playouts, which are its visits."""

    def __init__(self, searcher: LearningSearcher[int]) -> None:
        self._searcher = searcher
        self.many_lines = searcher.many_lines
        self.arm = searcher.arm
        self.stop = searcher.stop
        self.new_game = searcher.new_game
        self.keep = searcher.keep

    @property
    def nodes(self) -> int:
        """How many nodes the search has visited."""
        return self._searcher.nodes

    def progress(self) -> Progress[int]:
        """Tell where the running search stands."""
        return self._searcher.progress()

    def deepen(
        self, position: Game[int], limits: Limits[int], lines: int = 1, /
    ) -> Iterator[Info[int]]:
        """Yield what each part of the playouts finds."""
        return self._searcher.deepen(position, replace(limits, nodes=None), lines)
