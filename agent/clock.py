"""Time for one move: how much to plan, how much to allow, when to stop. All times are seconds.

A move has a soft budget, after which no new iteration begins, and a hard one, at which the
search is stopped wherever it is. The soft budget shrinks while the best move stays the same from
one iteration to the next and takes most of the nodes, and grows when the move has just changed,
when others had to be refuted at length, or when the score falls: a quiet position is played
quickly, and the time goes where the search is undecided. A search that plays the move with the
most nodes ends as soon as no other can still come to have more.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Generic, TypeVar

from agent.limits import Cp, Limits, Score, SideClock

Move = TypeVar("Move")

# The share of the clock that one move may plan for, when no number of moves is prescribed.
MOVES_LEFT = 20
# How much of the increment a move spends: the rest lets the clock recover.
INCREMENT_SHARE = 0.8
# An iteration takes as long as all before it together, so none is begun late in the share.
SOFT_SHARE = 0.75
HARD_SHARE = 3.0
# The most of a clock that one move takes, unless the next time control is so near that an equal
# share is more. A search that always uses the most of it settles where this is the increment.
MAX_CLOCK_SHARE = 0.2
# The most of a period of overtime that is kept for the way to the clock.
MAX_PERIOD_SHARE = 0.5
# With nothing left, play at once: enough for a first iteration, so that it is no blind move.
MIN_TIME = 0.003
# The soft budget times UNSETTLED after a change of mind, less by STEP for each agreement since.
UNSTABLE_FACTOR, STABILITY_STEP, STABLE_FACTOR = 1.4, 0.1, 0.7
# Times this much less the best move's share of the nodes, and that by a scale.
EFFORT_BASE, EFFORT_SCALE = 1.5, 1.35
# The least share of it to search for, however long others did.
MIN_SHARE_AFTER_WAITING = 0.25
# Longer by this for each centipawn that the score fell, up to so many.
DROP_WEIGHT, MAX_DROP = 0.01, 60


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """No new iteration after `soft` seconds; stopped at `hard` seconds."""

    soft: float = inf
    hard: float = inf


def allocate_time(
    limits: Limits[Move], overhead: float, reserve: float = 0.0, time_factor: float = 1.0
) -> TimeBudget:
    """Return the budget of one move; `overhead` is what the way to the clock takes, kept free.

    reserve: what to keep of a clock, where that is more (`agent.lag`). thrift: the share of
    the time usually planned on such a clock that this move is to take.
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
    """Return the budget of a move on a clock: of its time, or of the overtime if that is more.

    What is left of a period at its end is lost, so that all of a move's part is used.
    """
    overtime = clock.overtime
    if overtime is None:
        return _main_time_budget(clock, moves_to_go, max(overhead, reserve))
    part = overtime.seconds / max(overtime.moves, 1)
    over = max(part - max(overhead, min(reserve, MAX_PERIOD_SHARE * part)), MIN_TIME)
    if clock.time <= 0.0:
        return TimeBudget(over, over)
    main = _main_time_budget(clock, moves_to_go, max(overhead, reserve))
    return TimeBudget(max(main.soft, over), max(main.hard, over))


def _main_time_budget(clock: SideClock, moves_to_go: int | None, kept: float) -> TimeBudget:
    available = max(clock.time - kept, MIN_TIME)
    moves = max(moves_to_go or MOVES_LEFT, 1)
    share = available / moves + clock.increment * INCREMENT_SHARE
    most = available * max(MAX_CLOCK_SHARE, 1 / moves)
    hard = max(min(share * HARD_SHARE, most), MIN_TIME)
    return TimeBudget(min(share * SOFT_SHARE, hard), hard)


class SearchClock(Generic[Move]):
    """The clock of one search: it runs from the start, or, pondering, from `start`.

    reserve, thrift: as in `allot`. forced: there is no choice of move, so on a game clock one
    iteration is enough. waited: seconds in which others searched, while it ran
    (agent.threads.scheduler).
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
        self._pondered_enough = False  # what was pondered is worth the time it took
        self._planned_time: float | None = None
        self.waited = 0.0

    @property
    def limited(self) -> bool:
        """Whether time ends this search, now or after the ponder hit."""
        return self.budget.hard != inf

    @property
    def running(self) -> bool:
        """Whether our time runs: the search is not, or no longer, one of a move that is guessed."""
        return self._started_at is not None

    def start(self) -> None:
        """Let our time run from here: the expected move has been played."""
        if self._started_at is None:
            self._started_at = self._now()

    def elapsed(self) -> float:
        """Seconds since the search was asked for, pondering included."""
        return self._now() - self._created_at

    def remaining(self) -> float:
        """Seconds to the hard limit; infinite while the clock does not run.

        None remain if pondering has taken, before the hit, as long as the move deserves.
        """
        if self._started_at is None:
            return inf
        return 0.0 if self._pondered_enough else self.budget.hard - self._spent()

    def expected_remaining(self) -> float:
        """Seconds until it will probably be over: to the soft limit, or after it to the hard one.

        Infinite while the clock does not run, and where it limits nothing.
        """
        if self._started_at is None:
            return inf
        spent = self._spent()
        hard = self.budget.hard
        soft = min(self.budget.soft, hard)
        return max((soft if spent < soft or not soft else hard) - spent, 0.0)

    def finish(self) -> None:
        """Take note that nothing is left to do but to answer."""
        if self._planned_time is None and self._started_at is not None:
            self._planned_time = min(self._spent(), self.budget.hard)

    @property
    def planned_time(self) -> float | None:
        """Seconds of our time that the move was meant to take; None if none of it ran."""
        return self._planned_time

    def should_continue(
        self,
        best: Move,
        score: Score | None = None,
        effort: float | None = None,
        visit_lead: float | None = None,
    ) -> bool:
        """Whether to search deeper, after an iteration that found this best move.

        score: what it is worth; effort: its share of the iteration's nodes, 0 to 1, if known.
        ahead: how many more nodes than the second best move it has, as a part of all, where the
        most nodes choose the move: what the second cannot make good is not waited for.
        """
        self._stability = self._stability + 1 if best == self._best else 0
        patience = max(UNSTABLE_FACTOR - STABILITY_STEP * self._stability, STABLE_FACTOR)
        if effort is not None:
            patience *= (EFFORT_BASE - effort) * EFFORT_SCALE
        if isinstance(score, Cp) and isinstance(self._score, Cp):
            drop = self._score.value - score.value
            patience *= 1 + DROP_WEIGHT * min(max(drop, 0), MAX_DROP)
        self._best, self._score = best, score
        planned = self.budget.soft * patience
        if self.waited:  # which is not to leave nothing to think in, as long as there is time
            planned = max(planned, self.waited + planned * MIN_SHARE_AFTER_WAITING)
        spent, until = self._spent(), min(planned, self.budget.hard)
        enough = spent + (visit_lead or 0.0) * spent >= until
        if self._started_at is None:
            self._pondered_enough = enough
            return True
        if enough:
            self.finish()
        return not enough

    def _spent(self) -> float:
        return self._now() - (self._created_at if self._started_at is None else self._started_at)
