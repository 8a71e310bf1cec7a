"""Backend that provides a searcher for any game, and replaces a search that hangs."""

import threading
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from agent.agent import Searcher
from agent.clock import SearchClock
from agent.threads.abandoned_threads import GRACE_PERIOD_S, MAX_ABANDONED, AbandonedThreads
from agent.threads.background_call import MonitoredFunction, raise_in_thread
from agent.threads.one_shot_event import OneShotEvent

Move = TypeVar("Move")
Evaluate = Callable[[Any], float]

# A search that makes no progress for this many seconds is stalled.
STALL_TIMEOUT_S = 1.0


class PersistentSearcher(Searcher[Any, Move], Protocol[Move]):
    """A searcher that may report several lines and may store learned moves in a file."""

    @property
    def supports_multipv(self) -> bool:
        """Whether the searcher can report more than one line."""

    @property
    def nodes(self) -> int:
        """The number of visited nodes. Any thread may read it."""

    def save(self) -> None:
        """Write learned moves to the file. Raise OSError or ValueError on failure."""


class GameBackend(Generic[Move]):
    """A backend that runs one search algorithm on a game, with the user's evaluation if given.

    - `make`: a function that creates a searcher with an evaluation. Its exceptions are not caught.
    - `own`: the game's own evaluation.
    - `users`: the name and the function of the user's evaluation, or None.
    - `report`: a function that receives messages for the user.
    - `max_abandoned`: the number of hung searches beyond which the game's own evaluation is used.
    - `at_once`: whether to create the searcher immediately instead of on first use.
    """

    def __init__(
        self,
        make: Callable[[Evaluate], PersistentSearcher[Move]],
        own: Evaluate,
        users: tuple[str, Evaluate] | None,
        report: Callable[[str], None],
        max_abandoned: int = MAX_ABANDONED,
        *,
        at_once: bool = True,
        runs_user_code: bool = False,
    ) -> None:
        self.runs_user_code = runs_user_code
        self._make = make
        self._builtin_evaluation = own
        self._name, function = users or ("", None)
        self._user_evaluation = None if function is None else MonitoredFunction(function)
        self._report = report
        self._max_abandoned = max_abandoned
        self._evaluate: Evaluate = self._user_evaluation or own
        self._abandoned = AbandonedThreads()
        self._search: PersistentSearcher[Move] | None = make(self._evaluate) if at_once else None
        self._eager = at_once

    def _current(self) -> PersistentSearcher[Move]:
        if self._search is None:
            self._search = self._make(self._evaluate)
        return self._search

    @property
    def max_lines(self) -> int | None:
        """The maximum number of lines that the searcher reports, or None for no limit."""
        return None if self._current().supports_multipv else 1

    def start(self) -> None:
        """Do nothing, because nothing needs to be loaded."""

    def get_searcher(
        self, clock: SearchClock[Move], stop: OneShotEvent, /
    ) -> PersistentSearcher[Move]:
        self._abandoned.start_search()
        evaluate: Evaluate = self._user_evaluation or self._builtin_evaluation
        if self._abandoned.count_exceeds(self._max_abandoned):
            evaluate = self._builtin_evaluation
        if evaluate is not self._evaluate:
            self._evaluate = evaluate
            self._search = self._make(evaluate)
            if evaluate is self._builtin_evaluation:
                self._report(
                    f"evaluation {self._name} still does not return; using the game's evaluation"
                )
        return self._current()

    def abandon(self, thread: threading.Thread, /) -> str | None:
        """Abandon the search in `thread` if user code hangs, and return the reason, otherwise None.

        The thread keeps the old searcher, and a new searcher is created.
        """
        if self._user_evaluation is not None and self._user_evaluation.is_stuck(GRACE_PERIOD_S):
            self._user_evaluation.abandon()
            reason = f"evaluation {self._name} did not return in time; search abandoned"
        elif self._abandoned.is_stalled(self._current().nodes, STALL_TIMEOUT_S):
            if thread.ident is not None:
                raise_in_thread(thread.ident)
            reason = "the search did not end in time; search abandoned"
        else:
            return None
        self._abandoned.add(thread)
        self._search = self._make(self._evaluate)
        return reason

    def new_game(self) -> None:
        """Save learned moves and create a new searcher."""
        self.save()
        self._search = self._make(self._evaluate) if self._eager else None

    def close(self, timeout: float) -> bool:
        return True

    def save(self) -> None:
        """Write learned moves to the file. Errors are reported to the user."""
        try:
            if self._search is not None:
                self._search.save()
        except (OSError, ValueError) as error:
            self._report(str(error))
