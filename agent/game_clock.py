"""The clock of one player in a game, for all time controls. All times are in seconds."""

from __future__ import annotations

import time
from dataclasses import dataclass

from agent.limits import Overtime, SideClock


@dataclass(frozen=True, slots=True)
class TimeSystem:
    """A player's time: a main time with an increment or overtime, and a limit per move."""

    main_time: float | None = None  # None: no clock
    period: float = 0.0  # duration of an overtime period
    stones: int = 0  # Canadian overtime: number of moves per period
    periods: int = 0  # byo-yomi: number of periods
    increment: float = 0.0
    moves: int = 0  # the main time is added again after this number of moves (0: never)
    max_main_time: float | None = None  # limits the main time with increments
    max_move_time: float | None = None


class GameClock:
    """The clock of one player. `moves` counts the player's moves in the time system.

    `remaining` is the main time that is left, by default all of it.
    """

    def __init__(self, system: TimeSystem, remaining: float | None = None) -> None:
        self.system = system
        self.moves = 0
        self._main = (system.main_time or 0.0) if remaining is None else remaining
        # In overtime: the remaining seconds of the period, and the remaining stones or periods.
        self._period = system.period
        self._count = system.stones or system.periods
        self._started: float | None = None

    def start(self) -> None:
        """Start the clock, unless it is already running."""
        if self._started is None:
            self._started = time.monotonic()

    def stop(self) -> None:
        """Stop the clock after a move, and deduct the time since `start`."""
        self.spend(self.elapsed)
        self.cancel()

    def cancel(self) -> None:
        """Stop the clock without deducting time."""
        self._started = None

    @property
    def running(self) -> bool:
        return self._started is not None

    @property
    def elapsed(self) -> float:
        """The time since `start`, or 0 if the clock is not running."""
        return 0.0 if self._started is None else time.monotonic() - self._started

    @property
    def remaining(self) -> float | None:
        """The remaining main time, or None without a clock."""
        return None if self.system.main_time is None else max(self._main - self.elapsed, 0.0)

    @property
    def move_limit(self) -> float | None:
        """The time after which the player loses on time at this move, or None without a limit."""
        system = self.system
        if system.main_time is None:
            return system.max_move_time
        periods = self._count if system.periods else 1
        limit = self._main + periods * self._period
        return limit if system.max_move_time is None else min(limit, system.max_move_time)

    @property
    def flagged(self) -> bool:
        """Whether the time of this move has run out."""
        limit = self.move_limit
        return limit is not None and self.elapsed >= limit

    @property
    def moves_to_go(self) -> int | None:
        """The number of moves until the main time is added again, or None if it never is."""
        system = self.system
        if not system.moves or system.main_time is None:
            return None
        return system.moves - self.moves % system.moves

    def side_clock(self, used: float = 0.0) -> SideClock | None:
        """Return the clock after `used` seconds of this move, or None without a clock."""
        system, overtime = self.system, None
        if system.main_time is None:
            return None
        if system.period and self._main > 0:
            overtime = Overtime(system.period, system.stones or 1)
        elif system.period:
            overtime = Overtime(self._period, self._count if system.stones else 1)
        return SideClock(max(self._main - used, 0.0), system.increment, overtime)

    def set_remaining(self, seconds: float, count: int = 0) -> None:
        """Set the remaining main time, or the remaining overtime if `count` is not 0.

        In Canadian overtime, `count` is the number of stones left in the period. In byo-yomi, it is
        the number of periods left.
        """
        if count > 0:
            self._main, self._period, self._count = 0.0, seconds, count
        else:
            self._main = seconds

    def spend(self, seconds: float) -> None:
        """Deduct `seconds` for a move, and add the increment."""
        system = self.system
        self.moves += 1
        self._main += system.increment - seconds
        if self._main <= 0.0:
            overtime, self._main = -self._main, 0.0
            if system.stones:
                self._period -= overtime
                self._count -= 1
                if self._count < 1:
                    self._period, self._count = system.period, system.stones
            elif system.periods:
                self._count = max(1, self._count - int(overtime // system.period))
                self._period = system.period
        if system.moves and self.moves % system.moves == 0:
            self._main += system.main_time or 0.0
        if system.max_main_time is not None:
            self._main = min(self._main, system.max_main_time)
