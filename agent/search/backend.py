"""Where a player of any game gets its searcher from: a search, made anew if it is given up."""

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

# How long a search may show no sign of life, whatever its game does, in seconds.
STALL_TIMEOUT_S = 1.0


class PersistentSearcher(Searcher[Any, Move], Protocol[Move]):
    """A search of a game, which may tell of many lines, and learn something for good."""

    @property
    def supports_multipv(self) -> bool:
        """Whether it tells of more lines than the best."""

    @property
    def nodes(self) -> int:
        """How many nodes the search has visited; from any thread."""

    def save(self) -> None:
        """Write what was learned for good to its file; raises OSError or ValueError."""


class GameBackend(Generic[Move]):
    """Gives the search that was chosen for a game.

    make: makes it, with an evaluation. own: the game's evaluation; users: a user's function, if
    it is to evaluate, and its name. report: told what the user should know. max_abandoned: with more
    searches than this left behind the user's evaluation rests. at_once: make the search now, not
    when it is first needed.

    Raises what `make` raises.
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
    ) -> None:
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
        """How many lines its searches tell of; None for any number."""
        return None if self._current().supports_multipv else 1

    def start(self) -> None:
        """Begin to load what takes time: nothing does."""

    def get_searcher(
        self, clock: SearchClock[Move], stop: OneShotEvent, /
    ) -> PersistentSearcher[Move]:
        """Return the search, ready to be driven."""
        self._abandoned.start_search()
        evaluate: Evaluate = self._user_evaluation or self._builtin_evaluation
        if self._abandoned.count_exceeds(self._max_abandoned):
            evaluate = self._builtin_evaluation
        if evaluate is not self._evaluate:
            self._evaluate = evaluate
            self._search = self._make(evaluate)
            if evaluate is self._builtin_evaluation:
                self._report(f"evaluation {self._name} still does not return; the game's own plays")
        return self._current()

    def abandon(self, thread: threading.Thread, /) -> str | None:
        """Give the search up if the user's evaluation keeps it, or the game's own code.

        The search is left to the thread for good: the next one is made anew.
        """
        if self._user_evaluation is not None and self._user_evaluation.is_stuck(GRACE_PERIOD_S):
            self._user_evaluation.abandon()
            reason = f"evaluation {self._name} did not return in time; it is given up for this move"
        elif self._abandoned.is_stalled(self._current().nodes, STALL_TIMEOUT_S):
            if thread.ident is not None:
                raise_in_thread(thread.ident)
            reason = "the search did not end in time; it is given up for this move"
        else:
            return None
        self._abandoned.add(thread)
        self._search = self._make(self._evaluate)
        return reason

    def new_game(self) -> None:
        """Forget the last game, and write what was learned for good."""
        self.save()
        self._search = self._make(self._evaluate) if self._eager else None

    def close(self, timeout: float) -> bool:
        """End what `start` began, within about `timeout` seconds: nothing goes on."""
        return True

    def save(self) -> None:
        """Write what was learned for good to its file; what goes wrong is reported."""
        try:
            if self._search is not None:
                self._search.save()
        except (OSError, ValueError) as error:
            self._report(str(error))
