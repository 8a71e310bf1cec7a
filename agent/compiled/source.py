"""Where a player gets the search of a compiled game from, and who searches until it is there."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from agent.clock import Clock
from agent.compiled.loading import Loading
from agent.evaluation import Evaluation
from agent.search.source import Evaluate, GameSource, LearningSearcher
from agent.threads.latch import Latch
from agent.threads.left_behind import MOST_LEFT

Move = TypeVar("Move")


@dataclass(frozen=True, slots=True)
class Means:
    """What a compiled search may use: threads, megabytes of memory for what it remembers.

    playouts: the most for a move, if it makes any. seed: of what is random; None: another each
    time. settings: other values than the usual for numbers that the search goes by, by name.
    at_once: memory is taken at once, and not when it is first searched in.
    """

    threads: int = 1
    megabytes: int = 128
    playouts: int | None = None
    seed: int | None = None
    settings: Mapping[str, float] = field(default_factory=dict)
    at_once: bool = True


USUAL_MEANS = Means()

# The parts that have searched in this process.
_tried_out: set[str] = set()


def compiled_source(
    part: str,
    name: str,
    plain: GameSource[Move],
    evaluation: Evaluation,
    own: Evaluate,
    make: Callable[[Evaluation | None], LearningSearcher[Move]],
    try_out: Callable[[LearningSearcher[Move]], object],
    report: Callable[[str], None],
    *,
    at_once: bool = True,
) -> "CompiledSource[Move]":
    """Return what a player of a compiled game searches with, whoever's evaluation it is.

    part, name, plain, report: as in CompiledSource. evaluation: a user's plain function takes the
    plain game, and reports errors by its name. own: the game's own. make: makes a search, with a
    user's evaluation or None. try_out: lets a search search a little; its first search takes
    longer than a fast game allows. at_once: as in Means.
    """

    def make_search(function: Evaluate) -> LearningSearcher[Move]:
        if function is own:
            return make(None)
        return make(evaluation if evaluation.jitted else replace(evaluation, python=function))

    def make_source() -> GameSource[Move]:
        if at_once or part not in _tried_out:
            try_out(make_search(own))
            _tried_out.add(part)
        users = evaluation.python if evaluation.jitted is None else _in_the_kernel
        return GameSource(
            make_search,
            own,
            None if users is None else (evaluation.name, users),
            report,
            # Compiled code that did not return once is not tried again.
            most_left=MOST_LEFT if evaluation.jitted is None else 0,
            at_once=at_once,
        )

    return CompiledSource(part, name, plain, make_source, report)


def _in_the_kernel(game: Any) -> float:
    """Stand for an evaluation that only the kernel can call."""
    raise TypeError("a compiled evaluation takes no plain game")


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
    def loaded(self) -> bool:
        """Whether the compiled search is in use."""
        return self._in_use() is not self._plain

    def settle(self, patience: float) -> None:
        """Wait so many seconds for the compiled search, unless it must be compiled first."""
        self._loading.wait_unless_cold(patience)

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
