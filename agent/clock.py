"""Time for one move: how much to plan, how much to allow, when to stop. All times are seconds.

A move has a soft budget, after which no new iteration begins, and a hard one, at which the
search is stopped wherever it is. The soft budget shrinks while the best move stays the same from
one iteration to the next, and grows when it has just changed: a quiet position is played
quickly, and the time goes where the search is undecided.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Generic, TypeVar

from agent.limits import Limits, SideClock

Move = TypeVar("Move")

# The share of the clock that one move may plan for, when no number of moves is prescribed.
MOVES_LEFT = 30
# How much of the increment a move spends: the rest lets the clock recover.
INCREMENT_SHARE = 0.75
# An iteration takes as long as all before it together, so none is begun late in the share.
SOFT_SHARE = 0.6
HARD_SHARE = 3.0
# The most of a clock that one move takes, unless the next time control is so near that an equal
# share is more. A search that always uses the most of it settles where this is the increment.
MOST_OF_CLOCK = 0.2
# With nothing left, play at once: enough for a first iteration, so that it is no blind move.
LEAST = 0.003
# The soft budget times UNSETTLED after a change of mind, less by STEP for each agreement since.
UNSETTLED, STEP, SETTLED = 1.4, 0.1, 0.7


@dataclass(frozen=True, slots=True)
class Budget:
    """No new iteration after `soft` seconds; stopped at `hard` seconds."""

    soft: float = inf
    hard: float = inf


def allot(limits: Limits[Move], overhead: float) -> Budget:
    """Return the budget of one move; `overhead` is what the way to the clock takes, kept free."""
    if limits.infinite:
        return Budget()
    budgets = [Budget()]
    if limits.movetime is not None:
        budgets.append(Budget(hard=max(limits.movetime - overhead, LEAST)))
    if limits.clock is not None:
        budgets.append(_share(limits.clock, limits.moves_to_go, overhead))
    return min(budgets, key=lambda budget: budget.hard)


def _share(clock: SideClock, moves_to_go: int | None, overhead: float) -> Budget:
    available = max(clock.time - overhead, LEAST)
    moves = max(moves_to_go or MOVES_LEFT, 1)
    share = available / moves + clock.increment * INCREMENT_SHARE
    most = available * max(MOST_OF_CLOCK, 1 / moves)
    hard = max(min(share * HARD_SHARE, most), LEAST)
    return Budget(min(share * SOFT_SHARE, hard), hard)


class Clock(Generic[Move]):
    """The clock of one search: it runs from the start, or, pondering, from `start`.

    forced: there is no choice of move, so on a game clock one iteration is enough.
    """

    def __init__(
        self,
        limits: Limits[Move],
        overhead: float = 0.0,
        forced: bool = False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.budget = allot(limits, overhead)
        if forced and limits.clock is not None:
            self.budget = Budget(0.0, self.budget.hard)
        self._now = now
        self._began = now()
        self._started = None if limits.ponder else self._began
        self._best: Move | None = None
        self._agreements = 0

    @property
    def limited(self) -> bool:
        """Whether time ends this search, now or after the ponder hit."""
        return self.budget.hard != inf

    def start(self) -> None:
        """Let our time run from here: the expected move has been played."""
        if self._started is None:
            self._started = self._now()

    def elapsed(self) -> float:
        """Seconds since the search was asked for, pondering included."""
        return self._now() - self._began

    def remaining(self) -> float:
        """Seconds to the hard limit; infinite while the clock does not run."""
        return inf if self._started is None else self.budget.hard - self._spent()

    def another_iteration(self, best: Move) -> bool:
        """Whether to search deeper, after an iteration that found this best move."""
        self._agreements = self._agreements + 1 if best == self._best else 0
        self._best = best
        if self._started is None:
            return True
        patience = max(UNSETTLED - STEP * self._agreements, SETTLED)
        return self._spent() < min(self.budget.soft * patience, self.budget.hard)

    def _spent(self) -> float:
        return self._now() - (self._began if self._started is None else self._started)
