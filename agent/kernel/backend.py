"""Search backend for games with a compiled search."""

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
    """The resources and settings of a compiled search.

    - `megabytes`: the size of the transposition table or tree.
    - `playouts`: the maximum number of playouts per move, which only MCTS uses.
    - `seed`: the random seed, or None for a random one.
    - `settings`: the values of search parameters that differ from their defaults, by name.
    - `at_once`: whether to allocate memory immediately instead of at the first search.
    """

    threads: int = 1
    megabytes: int = 128
    playouts: int | None = None
    seed: int | None = None
    settings: Mapping[str, float] = field(default_factory=dict)
    at_once: bool = True


DEFAULT_SEARCH_CONFIG = SearchConfig()

# Names of the parts that have completed a trial search in this process.
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
    """Return a search backend for a compiled game. Most parameters are those of `CompiledBackend`.

    - `evaluation`: the evaluation to use. A user's Python evaluation takes the Python game object.
    - `default_evaluation`: the game's own evaluation.
    - `make`: creates a searcher for a user's evaluation, or for the game's own evaluation if None.
    - `trial_search`: runs a short warm-up search, because the first search is slow.
    """

    def make_search(function: Evaluate) -> PersistentSearcher[Move]:
        if function is default_evaluation:
            return make(None)
        return make(evaluation if evaluation.jitted else replace(evaluation, python=function))

    def make_backend() -> GameBackend[Move]:
        if at_once or part not in _tried_parts:
            trial_search(make_search(default_evaluation))
            _tried_parts.add(part)
        function = evaluation.python if evaluation.jitted is None else _kernel_only
        return GameBackend(
            make_search,
            default_evaluation,
            None if function is None else (evaluation.name, function),
            report,
            # A compiled evaluation that hung once is not tried again.
            max_abandoned=MAX_ABANDONED if evaluation.jitted is None else 0,
            at_once=at_once,
        )

    return CompiledBackend(part, name, plain, make_backend, report)


def _kernel_only(game: Any) -> float:
    raise TypeError("a compiled evaluation cannot evaluate a plain game")


class CompiledBackend(Generic[Move]):
    """A backend that uses a Python search until a compiled search is loaded.

    `part` is a part in `agent.kernel.parts`, and `name` its name in messages to `report`. `plain`
    is the backend of the Python search. `make` creates the compiled backend, in a background
    thread.
    """

    def __init__(
        self,
        part: str,
        name: str,
        plain: GameBackend[Move],
        make: Callable[[], GameBackend[Move]],
        report: Callable[[str], None],
    ) -> None:
        self.runs_user_code = plain.runs_user_code
        self._plain = plain
        self._make = make
        self._compiled: GameBackend[Move] | None = None
        self._active = plain
        self._loader = KernelLoader(
            part, name, "using the Python search", report, on_loaded=self._make_compiled
        )

    @property
    def ready(self) -> OneShotEvent:
        """An event that is set when the compiled search has been loaded or has failed to load."""
        return self._loader.ready

    @property
    def loaded(self) -> bool:
        return self._in_use() is not self._plain

    def wait_until_loaded(self, timeout: float) -> None:
        """Wait up to `timeout` seconds for the compiled search, unless it must be compiled."""
        self._loader.wait_unless_compiling(timeout)

    @property
    def max_lines(self) -> int | None:
        """The maximum number of lines that a search reports (MultiPV), or None for no limit."""
        return self._in_use().max_lines

    def start(self) -> None:
        self._loader.start()

    def get_searcher(
        self, clock: SearchClock[Move], stop: OneShotEvent, /
    ) -> PersistentSearcher[Move]:
        """Return the compiled searcher, or a Python searcher if loading would take too long."""
        self._loader.wait(clock, stop)
        self._active = self._in_use()
        return self._active.get_searcher(clock, stop)

    def abandon(self, thread: threading.Thread, /) -> str | None:
        return self._active.abandon(thread)

    def new_game(self) -> None:
        """Clear the data of the last game, and save learned data."""
        for backend in (self._plain, self._compiled):
            if backend is not None:
                backend.new_game()

    def save(self) -> None:
        """Save learned data. Errors are reported and not raised."""
        self._plain.save()

    def close(self, timeout: float) -> bool:
        """Stop loading and compiling, and return whether loading ended within `timeout` seconds."""
        return self._loader.close(timeout)

    def _make_compiled(self) -> None:
        self._compiled = self._make()

    def _in_use(self) -> GameBackend[Move]:
        compiled = self._compiled if self._loader.is_loaded else None
        return self._plain if compiled is None else compiled
