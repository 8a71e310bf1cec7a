"""What the searches share that know only won and not won."""

from abc import abstractmethod
from math import inf, nextafter
from typing import TypeVar

from agent.game import Game
from agent.search.ending import MOST
from agent.search.search import Found, Search

Move = TypeVar("Move")

WIN, LOSS = 1.0, -1.0
# What is worth more is a win, is won, and is not a loss.
BOUNDS = MOST, 0.0, nextafter(-MOST, -inf)


class TwoValued(Search[Move]):
    """Finds out whether the mover can force a won leaf; the value is WIN or LOSS.

    A leaf is won if it is worth more than 0. So as not to take a good evaluation where there is
    a win to be had, it first aims at wins alone; and where nothing is won, at a leaf that is not
    lost: the value is LOSS all the same, but there is a move to play.
    """

    exact = False

    def _root(self, game: Game[Move], depth: int) -> float:
        self._missed = inf
        self._is_certain = False
        for bound in (0.0,) if self._valued else BOUNDS:
            # No leaf that refuted the moves before is won now: they would be refuted again.
            if self._missed <= bound:
                continue
            self._bound, self._missed = bound, -inf
            if self._aim(game, depth):
                self._is_certain = bound == MOST
                return WIN if bound >= 0 else LOSS
        self._is_certain = not self._valued
        return LOSS

    def _found(self, value: float, line: tuple[Move, ...]) -> Found[Move]:
        return Found(value, line, self._is_certain)

    @abstractmethod
    def _aim(self, game: Game[Move], depth: int) -> bool:
        """Tell whether MAX can force a leaf that `_is_won`; leave a variation."""

    def _is_won(self, leaf: float) -> bool:
        if leaf > self._bound:
            return True
        self._missed = max(self._missed, leaf)
        return False
