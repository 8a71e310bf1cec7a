"""Searches of Go that are limited by visits.

The nodes of a compiled search are its visits. A plain one counts the moves of its playouts as
nodes, so it is made anew for each position, with a number of playouts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from agent.backends import create_backend
from agent.clock import SearchClock
from agent.game import Game
from agent.games import catalogue
from agent.games.go import Go
from agent.kernel.backend import DEFAULT_SEARCH_CONFIG, CompiledBackend, SearchConfig
from agent.limits import Info, Limits, Progress
from agent.search.backend import GameBackend, PersistentSearcher
from agent.search.defaults import default_algorithm
from agent.search.searcher import GameSearcher
from agent.threads.one_shot_event import OneShotEvent, wait_for_any

AnyBackend = GameBackend[int] | CompiledBackend[int]


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What searches: an algorithm, as agent.search.algorithm_spec reads it, with its means.

    Without an algorithm it is a compiled search, or what suits Go until there is one.
    """

    algorithm: str | None = None
    search_config: SearchConfig = DEFAULT_SEARCH_CONFIG

    def create_backend(self, game: Go, report: Callable[[str], None]) -> AnyBackend:
        """Return what searches positions like this one.

        Raises ValueError for an algorithm that there is not, or that counts no visits.
        """
        kind = catalogue.find("go")
        source = create_backend(
            kind, lambda: game, report, algorithm=self.algorithm, search_config=self.search_config
        )
        if source.max_lines is not None:
            raise ValueError(f"{self.algorithm} counts no visits of moves, which mcts does")
        return source


DEFAULT_SEARCH_SETTINGS = SearchSettings()


class VisitLimitedBackend:
    """Lends a player a search for one position after the other, each a fresh one.

    report: told what the user should know.
    """

    def __init__(self, search_settings: SearchSettings, report: Callable[[str], None]) -> None:
        self._search_settings = search_settings
        self._report = report
        self._backend: AnyBackend | None = None
        self._game = Go()
        self._visits = 0
        self._active_backend: AnyBackend | None = None
        self._searcher: PersistentSearcher[int] | None = None

    def prepare(self, game: Go, visits: int, stop: OneShotEvent) -> None:
        """Be ready for a position, with the most visits; wait for a compiler until `stop`."""
        if self._backend is None:  # it is the same for boards of all sizes
            self._backend = self._search_settings.create_backend(game, self._report)
        self._game, self._visits, self._searcher = game, visits, None
        if isinstance(self._backend, CompiledBackend):
            self._backend.start()
            wait_for_any(self._backend.ready, stop)

    def get_searcher(
        self, clock: SearchClock[int], stop: OneShotEvent, /
    ) -> PersistentSearcher[int]:
        """Return who searches the position that was prepared."""
        assert self._backend is not None
        self._active_backend = self._backend
        searcher = self._active_backend.get_searcher(clock, stop)
        if isinstance(searcher, GameSearcher):
            search_config = replace(self._search_settings.search_config, playouts=self._visits)
            algorithm = self._search_settings.algorithm or default_algorithm(self._game)
            self._active_backend = SearchSettings(algorithm, search_config).create_backend(
                self._game, self._report
            )
            searcher = PlayoutSearcher(self._active_backend.get_searcher(clock, stop))
        searcher.new_game()
        self._searcher = searcher
        return searcher

    @property
    def is_uncompiled(self) -> bool:
        """Whether the position was searched by a plain search."""
        return isinstance(self._searcher, PlayoutSearcher)

    def current_lines(self) -> Sequence[Info[int]]:
        """Return all lines of the position as they stand, where they can be told."""
        return () if self._searcher is None else self._searcher.progress().lines

    def abandon(self, thread: threading.Thread, /) -> str | None:
        """Give the search up if the game's code keeps it."""
        return None if self._active_backend is None else self._active_backend.abandon(thread)

    def close(self, timeout: float) -> bool:
        """End what compiles; return whether that ended within about `timeout` seconds."""
        return self._backend is None or self._backend.close(timeout)


class PlayoutSearcher:
    """A plain search that was made with its number of playouts, which are its visits."""

    def __init__(self, searcher: PersistentSearcher[int]) -> None:
        self._searcher = searcher
        self.supports_multipv = searcher.supports_multipv
        self.clear_stop = searcher.clear_stop
        self.stop = searcher.stop
        self.new_game = searcher.new_game
        self.save = searcher.save

    @property
    def nodes(self) -> int:
        """How many nodes the search has visited."""
        return self._searcher.nodes

    def progress(self) -> Progress[int]:
        """Tell where the running search stands."""
        return self._searcher.progress()

    def search(
        self, position: Game[int], limits: Limits[int], lines: int = 1, /
    ) -> Iterator[Info[int]]:
        """Yield what each part of the playouts finds."""
        return self._searcher.search(position, replace(limits, nodes=None), lines)
