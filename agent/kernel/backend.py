"""Where a player gets the search of a compiled game from, and who searches until it is there."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from agent.clock import SearchClock
from agent.evaluation_types import Evaluation
from agent.kernel.kernel_loader import KernelLoader
from agent.search.backend import Evaluate, GameBackend, PersistentSearcher
from agent.threads.abandoned_threads import MAX_ABANDONED
from agent.threads.one_shot_event import OneShotEvent

Move = TypeVar("Move")


@dataclass(frozen=True, slots=True)
class SearchConfig:
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


DEFAULT_SEARCH_CONFIG = SearchConfig()

# The parts that have searched in this process.
_tried_parts: set[str] = set()


def compiled_backend(
    part: str,
    name: str,
    plain: GameBackend[Move],
    evaluation: Evaluation,
    default_evaluation: Evaluate,
    make: Callable[[Evaluation | None], PersistentSearcher[Move]],
    trial_search: Callable[[PersistentSearcher[Move]], object],
    report: Callable[[str], None],
    *,
    at_once: bool = True,
) -> "CompiledBackend[Move]":
    """Return what a player of a compiled game searches with, whoever's evaluation it is.

    part, name, plain, report: as in CompiledBackend. evaluation: a user's plain function takes the
    plain game, and reports errors by its name. own: the game's own. make: makes a search, with a
    user's evaluation or None. trial_search: lets a search search a little; its first search takes
    longer than a fast game allows. at_once: as in Means.
    """

    def make_search(function: Evaluate) -> PersistentSearcher[Move]:
        if function is default_evaluation:
            return make(None)
        return make(evaluation if evaluation.jitted else replace(evaluation, python=function))

    def make_backend() -> GameBackend[Move]:
        if at_once or part not in _tried_parts:
            trial_search(make_search(default_evaluation))
            _tried_parts.add(part)
        users = evaluation.python if evaluation.jitted is None else _in_the_kernel
        return GameBackend(
            make_search,
            default_evaluation,
            None if users is None else (evaluation.name, users),
            report,
            # Compiled code that did not return once is not tried again.
            max_abandoned=MAX_ABANDONED if evaluation.jitted is None else 0,
            at_once=at_once,
        )

    return CompiledBackend(part, name, plain, make_backend, report)


def _in_the_kernel(game: Any) -> float:
    """Stand for an evaluation that only the kernel can call."""
    raise TypeError("a compiled evaluation takes no plain game")


class CompiledBackend(Generic[Move]):
    """Gives a compiled search once it is loaded, until then a plain one.

    part: of `agent.kernel.parts`; name: what the user is told is compiled. plain: who searches
    meanwhile. make: returns who searches then; called in a thread of its own, once the part is
    loaded. report: told what the user should know.
    """

    def __init__(
        self,
        part: str,
        name: str,
        plain: GameBackend[Move],
        make: Callable[[], GameBackend[Move]],
        report: Callable[[str], None],
    ) -> None:
        self._plain = plain
        self._make = make
        self._compiled: GameBackend[Move] | None = None
        self._active = plain
        self._loader = KernelLoader(
            part, name, "the plain search plays", report, on_loaded=self._make_compiled
        )

    @property
    def ready(self) -> OneShotEvent:
        """Set when the compiled search is there, or will not come."""
        return self._loader.ready

    @property
    def loaded(self) -> bool:
        """Whether the compiled search is in use."""
        return self._in_use() is not self._plain

    def wait_until_loaded(self, timeout: float) -> None:
        """Wait so many seconds for the compiled search, unless it must be compiled first."""
        self._loader.wait_unless_compiling(timeout)

    @property
    def max_lines(self) -> int | None:
        """How many lines its searches tell of; None for any number."""
        return self._in_use().max_lines

    def start(self) -> None:
        """Begin to load the compiled search, unless that has begun."""
        self._loader.start()

    def get_searcher(
        self, clock: SearchClock[Move], stop: OneShotEvent, /
    ) -> PersistentSearcher[Move]:
        """Return the compiled search, if it is there or can be waited for, else the plain one."""
        self._loader.wait(clock, stop)
        self._active = self._in_use()
        return self._active.get_searcher(clock, stop)

    def abandon(self, thread: threading.Thread, /) -> str | None:
        """Give the search up if the user's evaluation keeps it."""
        return self._active.abandon(thread)

    def new_game(self) -> None:
        """Forget the last game, and write what was learned for good."""
        for source in (self._plain, self._compiled):
            if source is not None:
                source.new_game()

    def save(self) -> None:
        """Write what was learned for good to its file; what goes wrong is reported."""
        self._plain.save()

    def close(self, timeout: float) -> bool:
        """End what compiles; return whether the loading ended within about `timeout` seconds."""
        return self._loader.close(timeout)

    def _make_compiled(self) -> None:
        self._compiled = self._make()

    def _in_use(self) -> GameBackend[Move]:
        made = self._compiled if self._loader.is_loaded else None
        return self._plain if made is None else made
