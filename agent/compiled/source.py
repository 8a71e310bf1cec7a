"""Where a player gets the search of a compiled game from, and who searches until it is there."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from agent.clock import Clock
from agent.compiled.loading import Loading
from agent.search.source import GameSource, LearningSearcher
from agent.threads.latch import Latch

Move = TypeVar("Move")


class CompiledSource(Generic[Move]):
    """Gives a compiled search once it is loaded, until then a plain one.

    part: of `agent.compiled.parts`; name: what the user is told is compiled. plain: who searches
    meanwhile. make: returns who searches then; called in a thread of its own, once the part is
    loaded. report: told what the user should know.
    """

    def __init__(
        self,
        part: str,
        name: str,
        plain: GameSource[Move],
        make: Callable[[], GameSource[Move]],
        report: Callable[[str], None],
    ) -> None:
        self._plain = plain
        self._make = make
        self._compiled: GameSource[Move] | None = None
        self._given = plain
        self._loading = Loading(
            part, name, "the plain search plays", report, and_then=self._make_compiled
        )

    @property
    def ready(self) -> Latch:
        """Set when the compiled search is there, or will not come."""
        return self._loading.ready

    @property
    def most_lines(self) -> int | None:
        """How many lines its searches tell of; None for any number."""
        return self._in_use().most_lines

    def start(self) -> None:
        """Begin to load the compiled search, unless that has begun."""
        self._loading.start()

    def searcher(self, clock: Clock[Move], stop: Latch, /) -> LearningSearcher[Move]:
        """Return the compiled search, if it is there or can be waited for, else the plain one."""
        self._loading.wait(clock, stop)
        self._given = self._in_use()
        return self._given.searcher(clock, stop)

    def give_up(self, thread: threading.Thread, /) -> str | None:
        """Give the search up if the user's evaluation keeps it."""
        return self._given.give_up(thread)

    def new_game(self) -> None:
        """Forget the last game, and write what was learned for good."""
        for source in (self._plain, self._compiled):
            if source is not None:
                source.new_game()

    def keep(self) -> None:
        """Write what was learned for good to its file; what goes wrong is reported."""
        self._plain.keep()

    def close(self, timeout: float) -> bool:
        """End what compiles; return whether the loading ended within about `timeout` seconds."""
        return self._loading.close(timeout)

    def _make_compiled(self) -> None:
        self._compiled = self._make()

    def _in_use(self) -> GameSource[Move]:
        made = self._compiled if self._loading.usable else None
        return self._plain if made is None else made
