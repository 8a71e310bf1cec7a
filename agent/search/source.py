"""Where a player of any game gets its searcher from: a search, made anew if it is given up."""

import threading
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from agent.clock import Clock
from agent.player import Searcher
from agent.threads.apart import Watched, break_off
from agent.threads.latch import Latch
from agent.threads.left_behind import GRACE, MOST_LEFT, LeftBehind

Move = TypeVar("Move")
Evaluate = Callable[[Any], float]

# How long a search may show no sign of life, whatever its game does, in seconds.
SILENCE = 1.0


class LearningSearcher(Searcher[Any, Move], Protocol[Move]):
    """A search of a game, which may tell of many lines, and learn something for good."""

    @property
    def many_lines(self) -> bool:
        """Whether it tells of more lines than the best."""

    @property
    def nodes(self) -> int:
        """How many nodes the search has visited; from any thread."""

    def keep(self) -> None:
        """Write what was learned for good to its file; raises OSError or ValueError."""


class GameSource(Generic[Move]):
    """Gives the search that was chosen for a game.

    make: makes it, with an evaluation. own: the game's evaluation; users: a user's function, if
    it is to evaluate, and its name. report: told what the user should know. most_left: with more
    searches than this left behind the user's evaluation rests. at_once: make the search now, not
    when it is first needed.

    Raises what `make` raises.
    """

    def __init__(
        self,
        make: Callable[[Evaluate], LearningSearcher[Move]],
        own: Evaluate,
        users: tuple[str, Evaluate] | None,
        report: Callable[[str], None],
        most_left: int = MOST_LEFT,
        *,
        at_once: bool = True,
    ) -> None:
        self._make = make
        self._own = own
        self._name, function = users or ("", None)
        self._users = None if function is None else Watched(function)
        self._report = report
        self._most_left = most_left
        self._evaluate: Evaluate = self._users or own
        self._left = LeftBehind()
        self._search: LearningSearcher[Move] | None = make(self._evaluate) if at_once else None
        self._at_once = at_once

    def _made(self) -> LearningSearcher[Move]:
        if self._search is None:
            self._search = self._make(self._evaluate)
        return self._search

    @property
    def most_lines(self) -> int | None:
        """How many lines its searches tell of; None for any number."""
        return None if self._made().many_lines else 1

    def start(self) -> None:
        """Begin to load what takes time: nothing does."""

    def searcher(self, clock: Clock[Move], stop: Latch, /) -> LearningSearcher[Move]:
        """Return the search, ready to be driven."""
        self._left.begin()
        evaluate: Evaluate = self._users or self._own
        if self._left.are_more_than(self._most_left):
            evaluate = self._own
        if evaluate is not self._evaluate:
            self._evaluate = evaluate
            self._search = self._make(evaluate)
            if evaluate is self._own:
                self._report(f"evaluation {self._name} still does not return; the game's own plays")
        return self._made()

    def give_up(self, thread: threading.Thread, /) -> str | None:
        """Give the search up if the user's evaluation keeps it, or the game's own code.

        The search is left to the thread for good: the next one is made anew.
        """
        if self._users is not None and self._users.is_stuck(GRACE):
            self._users.give_up()
            reason = f"evaluation {self._name} did not return in time; it is given up for this move"
        elif self._left.is_silent(self._made().nodes, SILENCE):
            if thread.ident is not None:
                break_off(thread.ident)
            reason = "the search did not end in time; it is given up for this move"
        else:
            return None
        self._left.add(thread)
        self._search = self._make(self._evaluate)
        return reason

    def new_game(self) -> None:
        """Forget the last game, and write what was learned for good."""
        self.keep()
        self._search = self._make(self._evaluate) if self._at_once else None

    def close(self, timeout: float) -> bool:
        """End what `start` began, within about `timeout` seconds: nothing goes on."""
        return True

    def keep(self) -> None:
        """Write what was learned for good to its file; what goes wrong is reported."""
        try:
            if self._search is not None:
                self._search.keep()
        except (OSError, ValueError) as error:
            self._report(str(error))
