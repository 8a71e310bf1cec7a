"""The time systems of Go, and how long to think about a move under each. All times are seconds."""

from __future__ import annotations

from dataclasses import dataclass

from agent.clock import SOFT_SHARE, allot
from agent.lag import Lag, lag_between
from agent.limits import Limits, SideClock

# What is kept free of each move: the way to the front end, and the end of a playout.
OVERHEAD = 0.05
LEAST = 0.01


@dataclass(frozen=True, slots=True)
class TimeSystem:
    """A main time, then overtime; or an increment for each move.

    Canadian overtime: `stones` moves in each `period`. Byo-yomi: `periods` of that length, of
    which a move that takes no longer costs none. unlimited: no clock runs.
    """

    main: float = 0.0
    period: float = 0.0
    stones: int = 0
    periods: int = 0
    increment: float = 0.0
    unlimited: bool = False


UNLIMITED = TimeSystem(unlimited=True)


def from_time_settings(main: float, period: float, stones: int) -> TimeSystem:
    """Return what `time_settings` means: no limit if there is overtime, but of no stones."""
    if period > 0 and stones == 0:
        return UNLIMITED
    return TimeSystem(main, period if stones else 0.0, stones if period else 0)


class SideTime:
    """The clock of one side, as far as it is known.

    lag: learns from what the front end tells of the main time.
    """

    def __init__(self, system: TimeSystem, lag: Lag | None = None) -> None:
        self.system = system
        self._lag = lag or Lag()
        # What we were told before the last move, and what that was meant to take.
        self._told: SideClock | None = None
        self._meant: float | None = None
        self._main = system.main
        # What is left of the period, and of its stones or of the periods, once in overtime.
        self._left = system.period
        self._count = system.stones or system.periods

    def set_left(self, seconds: float, count: int) -> None:
        """Believe the front end: the main time left, or, with a count, that of the overtime.

        count: stones to play in the period, or periods.
        """
        if count > 0:
            self._main, self._left, self._count = 0.0, seconds, count
            self._told = None
        else:
            clock = SideClock(seconds, self.system.increment)
            if self._told is not None and self._meant is not None:
                lag = lag_between(self._told, clock, self._meant)
                if lag is not None:
                    self._lag.learn(lag)
            self._main, self._told = seconds, clock
        self._meant = None

    def spend(self, seconds: float, meant: float | None = None) -> None:
        """Take the time of a move off the clock. meant: what it was to take, if that was less."""
        if self._meant is not None:  # two moves without a word of the clock in between
            self._told = None
        self._meant = seconds if meant is None else min(seconds, meant)
        system = self.system
        self._main += system.increment
        if self._main > seconds:
            self._main -= seconds
            return
        over = seconds - self._main
        self._main = 0.0
        if system.stones:
            self._left -= over
            self._count -= 1
            if self._count < 1:
                self._left, self._count = system.period, system.stones
        elif system.periods:
            self._count = max(1, self._count - int(over // system.period))
            self._left = system.period

    def for_move(self, moves_left: int | None) -> float:
        """Return how long to think about a move, of so many that we may still have to make."""
        system = self.system
        main = 0.0
        if self._main > 0:
            clock = SideClock(self._main, system.increment)
            limits: Limits[None] = Limits(clock=clock, moves_to_go=moves_left)
            budget = allot(limits, OVERHEAD, self._lag.reserve(clock))
            main = min(budget.soft / SOFT_SHARE, budget.hard)
        over = 0.0
        if system.period:
            if self._main > 0:
                left, count = system.period, max(system.stones, 1)
            else:
                left, count = self._left, self._count if system.stones else 1
            over = left / count - OVERHEAD
        return max(main, over, LEAST)
