"""Search Go positions with a limit on the number of visits.

A compiled search counts visits as nodes. A Python search counts every move of a playout as a node,
so it gets a playout limit instead.
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
from agent.search.algorithm_spec import parse
from agent.search.algorithms.mcts import UCT
from agent.search.backend import GameBackend, PersistentSearcher
from agent.search.defaults import default_algorithm
from agent.search.searcher import GameSearcher
from agent.threads.one_shot_event import OneShotEvent, wait_for_any

AnyBackend = GameBackend[int] | CompiledBackend[int]


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The search algorithm and its resources. If `algorithm` is None, the compiled search is used.

    Until the compiled search is loaded, a Python search is used.
    """

    algorithm: str | None = None
    search_config: SearchConfig = DEFAULT_SEARCH_CONFIG

    def create_backend(self, game: Go, report: Callable[[str], None]) -> AnyBackend:
        """Return a backend for positions with the same rules and board size as `game`.

        Raise `ValueError` if the algorithm is unknown or does not report visits.
        """
        backend = create_backend(
            catalogue.find("go"),
            lambda: game,
            report,
            algorithm=self.algorithm,
            search_config=self.search_config,
        )
        if self.algorithm and not issubclass(parse(self.algorithm).search_class, UCT):
            raise ValueError(
                f"{self.algorithm}: does not report visits of moves (use mcts for analysis)"
            )
        return backend


DEFAULT_SEARCH_SETTINGS = SearchSettings()


class VisitLimitedBackend:
    """A search backend that reuses no results from earlier positions."""

    def __init__(self, search_settings: SearchSettings, report: Callable[[str], None]) -> None:
        self._search_settings = search_settings
        self._report = report
        self._backend: AnyBackend | None = None
        self._game = Go()
        self._visits = 0
        self._active_backend: AnyBackend | None = None
        self._searcher: PersistentSearcher[int] | None = None

    def prepare(self, game: Go, visits: int, stop: OneShotEvent) -> None:
        """Prepare the next search. Wait until the kernel is loaded or `stop` is set."""
        if self._backend is None:  # All board sizes share this.
            self._backend = self._search_settings.create_backend(game, self._report)
        self._game, self._visits, self._searcher = game, visits, None
        if isinstance(self._backend, CompiledBackend):
            self._backend.start()
            wait_for_any(self._backend.ready, stop)

    @property
    def runs_user_code(self) -> bool:
        return self._backend is not None and self._backend.runs_user_code

    def get_searcher(
        self, clock: SearchClock[int], stop: OneShotEvent, /
    ) -> PersistentSearcher[int]:
        """Return the searcher for the position given to `prepare`."""
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
        return isinstance(self._searcher, PlayoutSearcher)

    def current_lines(self) -> Sequence[Info[int]]:
        """Return the lines of the running search, or () before the search starts."""
        return () if self._searcher is None else self._searcher.progress().lines

    def abandon(self, thread: threading.Thread, /) -> str | None:
        return None if self._active_backend is None else self._active_backend.abandon(thread)

    def close(self, timeout: float) -> bool:
        return self._backend is None or self._backend.close(timeout)


class PlayoutSearcher:
    """A Python search that ignores the node limit, because it has a playout limit."""

    def __init__(self, searcher: PersistentSearcher[int]) -> None:
        self._searcher = searcher
        self.supports_multipv = searcher.supports_multipv
        self.clear_stop = searcher.clear_stop
        self.stop = searcher.stop
        self.new_game = searcher.new_game
        self.save = searcher.save

    @property
    def nodes(self) -> int:
        return self._searcher.nodes

    def progress(self) -> Progress[int]:
        return self._searcher.progress()

    def search(
        self, position: Game[int], limits: Limits[int], lines: int = 1, /
    ) -> Iterator[Info[int]]:
        return self._searcher.search(position, replace(limits, nodes=None), lines)
