"""Base class of searches that only decide whether the player to move can force a win."""

from abc import abstractmethod
from math import inf, nextafter
from typing import TypeVar

from agent.game import Game
from agent.search.search import Search, SearchResult
from agent.search.terminal_scoring import MAX_EVALUATION

Move = TypeVar("Move")

WIN, LOSS = 1.0, -1.0
# Thresholds of the passes: a leaf above the threshold is a win, better than 0, or not a loss.
THRESHOLDS = MAX_EVALUATION, 0.0, nextafter(-MAX_EVALUATION, -inf)


class WinLossSearch(Search[Move]):
    """A search that decides whether the player to move can force a leaf with a value above 0.

    The value is WIN or LOSS. The first pass accepts only real wins, so that a good evaluation is
    not preferred to a win. If no move wins, the last pass finds a move that does not lose. The
    value is then still LOSS.
    """

    exact = False
    meaning = "win or loss"

    def _root(self, game: Game[Move], depth: int) -> float:
        self._best_below_bound = inf
        self._is_certain = False
        for bound in (0.0,) if self._has_terminal_values else THRESHOLDS:
            # No leaf that refuted a move in the last pass is above this bound, so skip this pass.
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
        """Set the principal variation, and return whether MAX can force a value above `_bound`."""

    def _reaches_bound(self, leaf: float) -> bool:
        if leaf > self._bound:
            return True
        self._best_below_bound = max(self._best_below_bound, leaf)
        return False
