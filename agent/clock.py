"""Time management for one move. All times are in seconds.

No iteration starts after the soft limit, and the search is stopped at the hard limit. The soft
limit shrinks while the best move is stable and takes most of the nodes. It grows when the best move
has changed or the score has dropped. A search that plays the most visited move ends when no other
move can overtake it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Generic, TypeVar

from agent.limits import Cp, Limits, Score, SideClock

Move = TypeVar("Move")

# Assumed number of remaining moves in sudden death.
MOVES_LEFT = 20
# Fraction of the increment to spend per move. The rest lets the clock recover.
INCREMENT_SHARE = 0.8
# Soft limit as a fraction of the time that the clock allots to the move. An iteration takes about
# as long as all earlier iterations together, so a late one would not finish.
SOFT_SHARE = 0.75
HARD_SHARE = 3.0
# Maximum fraction of the clock for one move, unless the next time control is near. If every move
# uses the maximum, the clock converges to the value at which this fraction equals the increment.
MAX_CLOCK_SHARE = 0.2
# Additional reserve for the last move before a time control, as a fraction of the clock and in
# seconds. Only this move may use the whole clock, and the answer itself takes a few milliseconds.
LAST_MOVE_RESERVE, MIN_LAST_MOVE_RESERVE = 0.02, 0.01
# Maximum fraction of an overtime period that is reserved for lag.
MAX_PERIOD_SHARE = 0.5
# Minimum time when the clock is empty. It suffices for one iteration.
MIN_TIME = 0.003
# Multiply the soft limit. The factor is UNSTABLE_FACTOR after a change of the best move. Each
# iteration that confirms the move subtracts STABILITY_STEP, down to STABLE_FACTOR.
UNSTABLE_FACTOR, STABILITY_STEP, STABLE_FACTOR = 1.4, 0.1, 0.7
# Multiplies the soft limit by (EFFORT_BASE - effort) * EFFORT_SCALE, where effort is the fraction
# of the nodes spent on the best move.
EFFORT_BASE, EFFORT_SCALE = 1.5, 1.35
# Fraction of the soft limit that always remains for searching, however long the search waited for
# other searches.
MIN_SHARE_AFTER_WAITING = 0.25
# Multiplies the soft limit by 1 + DROP_WEIGHT per centipawn of score drop, up to MAX_DROP
# centipawns.
DROP_WEIGHT, MAX_DROP = 0.01, 60


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """Limits in seconds. No iteration starts after `soft`, and the search stops at `hard`."""

    soft: float = inf
    hard: float = inf


def allocate_time(
    limits: Limits[Move], overhead: float, reserve: float = 0.0, time_factor: float = 1.0
) -> TimeBudget:
    """Return the time budget for one move.

    `overhead` is the delay until the answer reaches the clock. `reserve` is the time that must
    remain on a game clock (see `agent.lag`). Only the larger of the two is subtracted from a
    game clock. On a game clock, the soft limit is multiplied by `time_factor`.
    """
    if limits.infinite:
        return TimeBudget()
    soft = hard = inf
    if limits.movetime is not None:
        hard = max(limits.movetime - overhead, MIN_TIME)
    if limits.clock is not None:
        timed = _clock_budget(limits.clock, limits.moves_to_go, overhead, reserve)
        soft, hard = timed.soft * time_factor, min(timed.hard, hard)
    return TimeBudget(soft, hard)


def _clock_budget(
    clock: SideClock, moves_to_go: int | None, overhead: float, reserve: float
) -> TimeBudget:
    overtime = clock.overtime
    if overtime is None:
        return _main_time_budget(clock, moves_to_go, max(overhead, reserve))
    # Unused overtime is lost, so each move uses its full share of the period.
    part = overtime.seconds / max(overtime.moves, 1)
    over = max(part - max(overhead, min(reserve, MAX_PERIOD_SHARE * part)), MIN_TIME)
    if clock.time <= 0.0:
        return TimeBudget(over, over)
    main = _main_time_budget(clock, moves_to_go, max(overhead, reserve))
    return TimeBudget(max(main.soft, over), max(main.hard, over))


def _main_time_budget(clock: SideClock, moves_to_go: int | None, reserve: float) -> TimeBudget:
    moves = max(moves_to_go or MOVES_LEFT, 1)
    if moves == 1:
        reserve += max(LAST_MOVE_RESERVE * clock.time, MIN_LAST_MOVE_RESERVE)
    available = max(clock.time - reserve, MIN_TIME)
    share = available / moves + clock.increment * INCREMENT_SHARE
    maximum = available * max(MAX_CLOCK_SHARE, 1 / moves)
    hard = max(min(share * HARD_SHARE, maximum), MIN_TIME)
    return TimeBudget(min(share * SOFT_SHARE, hard), hard)


class SearchClock(Generic[Move]):
    """The clock for one search. It starts at creation, or at `start` for a ponder search.

    `overhead`, `reserve` and `time_factor` have the same meaning as in `allocate_time`. If
    `only_move` is true, a search on a game clock ends after one iteration. `now` returns the
    current time in seconds. The attribute `waited` is the time that the search waited for a slot
    of the search scheduler while the clock was running.
    """

    def __init__(
        self,
        limits: Limits[Move],
        overhead: float = 0.0,
        only_move: bool = False,
        now: Callable[[], float] = time.monotonic,
        reserve: float = 0.0,
        time_factor: float = 1.0,
    ) -> None:
        self.budget = allocate_time(limits, overhead, reserve, time_factor)
        if only_move and limits.clock is not None:
            self.budget = TimeBudget(0.0, self.budget.hard)
        self._now = now
        self._created_at = now()
        self._started_at = None if limits.ponder else self._created_at
        self._best: Move | None = None
        self._score: Score | None = None
        self._stability = 0
        self._pondered_enough = False  # pondering has already used up the planned time
        self._planned_time: float | None = None
        self.waited = 0.0

    @property
    def limited(self) -> bool:
        """Whether the search has a time limit, or will have one after a ponderhit."""
        return self.budget.hard != inf

    @property
    def running(self) -> bool:
        """Whether the clock is running. It does not run while pondering."""
        return self._started_at is not None

    def start(self) -> None:
        """Start the clock after a ponderhit. Later calls do nothing."""
        if self._started_at is None:
            self._started_at = self._now()

    def restart(self) -> None:
        """Set the elapsed time to zero, because the search had to wait for earlier searches."""
        self._created_at = self._now()
        if self._started_at is not None:
            self._started_at = self._created_at

    def elapsed(self) -> float:
        """Return the time in seconds since the search was requested, including pondering."""
        return self._now() - self._created_at

    def remaining(self) -> float:
        """Return the seconds until the hard limit, or infinity while pondering.

        Return 0 after the ponderhit if pondering has already used up the planned time.
        """
        if self._started_at is None:
            return inf
        return 0.0 if self._pondered_enough else self.budget.hard - self._spent()

    def expected_remaining(self) -> float:
        """Return the seconds until the soft limit or, if that has passed, until the hard limit.

        Return infinity while pondering and if there is no time limit.
        """
        if self._started_at is None:
            return inf
        spent = self._spent()
        hard = self.budget.hard
        soft = min(self.budget.soft, hard)
        return max((soft if spent < soft or not soft else hard) - spent, 0.0)

    def finish(self) -> None:
        """Set `planned_time` at the end of a search. Later calls do nothing."""
        if self._planned_time is None and self._started_at is not None:
            self._planned_time = min(self._spent(), self.budget.hard)

    @property
    def planned_time(self) -> float | None:
        """The seconds used for the move, up to the hard limit. None if the clock did not run."""
        return self._planned_time

    def should_continue(
        self,
        best: Move,
        score: Score | None = None,
        effort: float | None = None,
        visit_lead: float | None = None,
    ) -> bool:
        """Return whether to start another iteration, given the results of the last one.

        `effort` is the fraction of its nodes spent on the best move, or None if unknown. A search
        that plays the most visited move passes `visit_lead`, the difference in visits between the
        two most visited moves as a fraction of all visits. It ends when the second move can no
        longer catch up.
        """
        self._stability = self._stability + 1 if best == self._best else 0
        factor = max(UNSTABLE_FACTOR - STABILITY_STEP * self._stability, STABLE_FACTOR)
        if effort is not None:
            factor *= (EFFORT_BASE - effort) * EFFORT_SCALE
        if isinstance(score, Cp) and isinstance(self._score, Cp):
            drop = self._score.value - score.value
            factor *= 1 + DROP_WEIGHT * min(max(drop, 0), MAX_DROP)
        self._best, self._score = best, score
        planned = self.budget.soft * factor
        if self.waited:  # leave some time for searching after a long wait
            planned = max(planned, self.waited + planned * MIN_SHARE_AFTER_WAITING)
        spent, limit = self._spent(), min(planned, self.budget.hard)
        enough = spent + (visit_lead or 0.0) * spent >= limit
        if self._started_at is None:
            self._pondered_enough = enough
            return True
        if enough:
            self.finish()
        return not enough

    def _spent(self) -> float:
        return self._now() - (self._created_at if self._started_at is None else self._started_at)
