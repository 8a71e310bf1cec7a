"""What the searches share that know only won and not won."""

from abc import abstractmethod
from math import inf, nextafter
from typing import TypeVar

from agent.game import Game
from agent.search.search import Search, SearchResult
from agent.search.terminal_scoring import MAX_EVALUATION

Move = TypeVar("Move")

WIN, LOSS = 1.0, -1.0
# What is worth more is a win, is won, and is not a loss.
THRESHOLDS = MAX_EVALUATION, 0.0, nextafter(-MAX_EVALUATION, -inf)


class WinLossSearch(Search[Move]):
    """Finds out whether the mover can force a won leaf; the value is WIN or LOSS.

    A leaf is won if it is worth more than 0. So as not to take a good evaluation where there is
    a win to be had, it first aims at wins alone; and where nothing is won, at a leaf that is not
    lost: the value is LOSS all the same, but there is a move to play.
    """

    exact = False

    def _root(self, game: Game[Move], depth: int) -> float:
        self._best_below_bound = inf
        self._is_certain = False
        for bound in (0.0,) if self._has_terminal_values else THRESHOLDS:
            # No leaf that refuted the moves before is won now: they would be refuted again.
            if self._best_below_bound <= bound:
                continue
            self._bound, self._best_below_bound = bound, -inf
            if self._can_force(game, depth):
                self._is_certain = bound == MAX_EVALUATION
                return WIN if bound >= 0 else LOSS
        self._is_certain = not self._has_terminal_values
        return LOSS

    def _result(self, value: float, line: tuple[Move, ...]) -> SearchResult[Move]:
        return SearchResult(value, line, self._is_certain)

    @abstractmethod
    def _can_force(self, game: Game[Move], depth: int) -> bool:
        """Tell whether MAX can force a leaf that `_reaches_bound`; leave a variation."""

    def _reaches_bound(self, leaf: float) -> bool:
        if leaf > self._bound:
            return True
        self._best_below_bound = max(self._best_below_bound, leaf)
        return False
