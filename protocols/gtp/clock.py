"""The time systems of Go, and what a player's clock shows under each. All times are seconds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent.lag import LagEstimator, measure_lag
from agent.limits import Overtime, SideClock
from protocols.gtp.messages import SYNTAX_ERROR, Arguments, GtpError

# As `kgs-time_settings` and `kata-time_settings` name them.
TIME_SYSTEMS = ("none", "absolute", "byoyomi", "canadian", "fischer", "fischer-capped")


@dataclass(frozen=True, slots=True)
class TimeSystem:
    """A main time, then overtime; or an increment for each move.

    Canadian overtime: `stones` moves in each `period`. Byo-yomi: `periods` of that length, of
    which a move that takes no longer costs none. max_main_time, max_move_time: above what the increment
    does not raise the main time, and what a single move may take, if there are such limits.
    unlimited: no clock runs.
    """

    main_time: float = 0.0
    period: float = 0.0
    stones: int = 0
    periods: int = 0
    increment: float = 0.0
    max_main_time: float | None = None
    max_move_time: float | None = None
    unlimited: bool = False


UNLIMITED = TimeSystem(unlimited=True)


def from_time_settings(main: float, period: float, stones: int) -> TimeSystem:
    """Return what `time_settings` means: no limit if there is overtime, but of no stones."""
    if period > 0 and stones == 0:
        return UNLIMITED
    return TimeSystem(main, period if stones else 0.0, stones if period else 0)


def read_time_system(arguments: Arguments) -> TimeSystem:
    """Return what `kata-time_settings` means: one of KINDS with its times; GtpError if it cannot.

    Of fischer-capped, limits below 0 are none.
    """
    kind = arguments.word().lower()
    if kind == "none":
        return UNLIMITED
    if kind not in TIME_SYSTEMS:
        raise GtpError(
            f"{SYNTAX_ERROR}: no time system {kind}; there are {', '.join(TIME_SYSTEMS)}"
        )
    main = arguments.seconds()
    if kind == "absolute":
        return TimeSystem(main)
    period = arguments.seconds()
    if kind == "fischer":
        return TimeSystem(main, increment=period)
    if kind == "fischer-capped":
        max_main_time, max_move_time = _limit(arguments.real()), _limit(arguments.real())
        if max_main_time is not None and max_main_time < main:
            raise GtpError(f"{SYNTAX_ERROR}: a limit of the main time is not below the main time")
        return TimeSystem(
            main, increment=period, max_main_time=max_main_time, max_move_time=max_move_time
        )
    count = arguments.integer()
    if not (period and count):
        return TimeSystem(main)
    if kind == "byoyomi":
        return TimeSystem(main, period, periods=count)
    return TimeSystem(main, period, count)


def _limit(seconds: float) -> float | None:
    return None if seconds < 0 else seconds


class GtpClock:
    """The clock of one side, as far as it is known.

    Where no clock runs, one does from the first time that is told on; overtime that is told, and
    is not in the system, is Canadian. lag: learns from what the front end tells of the main time.
    """

    def __init__(self, system: TimeSystem, lag: LagEstimator | None = None) -> None:
        self.system = system
        self._lag = lag or LagEstimator()
        # What we were told before the last move, and what that was meant to take.
        self._last_reported: SideClock | None = None
        self._planned_time: float | None = None
        self._main = system.main_time
        # What is left of the period, and of its stones or of the periods, once in overtime.
        self._remaining = system.period
        self._count = system.stones or system.periods

    def set_remaining(self, seconds: float, count: int) -> None:
        """Believe the front end: the main time left, or, with a count, that of the overtime.

        count: stones to play in the period, or periods.
        """
        system = self.system
        if system.unlimited:
            if not seconds and not count:
                return  # no time, of no clock
            self.system = system = TimeSystem(seconds)
        if count > 0 and not system.period:
            self.system = replace(system, period=seconds, stones=count)
        if count > 0:
            self._main, self._remaining, self._count = 0.0, seconds, count
            self._last_reported = None
        else:
            clock = SideClock(seconds, self.system.increment)
            capped = system.max_main_time is not None and seconds >= system.max_main_time
            if self._last_reported is not None and self._planned_time is not None and not capped:
                lag = measure_lag(self._last_reported, clock, self._planned_time)
                if lag is not None:
                    self._lag.update(lag)
            self._main, self._last_reported = seconds, clock
        self._planned_time = None

    def spend(self, seconds: float, planned_time: float | None = None) -> None:
        """Take the time of a move off the clock. meant: what it was to take, if that was less."""
        if self._planned_time is not None:  # two moves without a word of the clock in between
            self._last_reported = None
        self._planned_time = seconds if planned_time is None else min(seconds, planned_time)
        system = self.system
        self._main += system.increment
        if self._main > seconds:
            self._main -= seconds
            if system.max_main_time is not None:
                self._main = min(self._main, system.max_main_time)
            return
        over = seconds - self._main
        self._main = 0.0
        if system.stones:
            self._remaining -= over
            self._count -= 1
            if self._count < 1:
                self._remaining, self._count = system.period, system.stones
        elif system.periods:
            self._count = max(1, self._count - int(over // system.period))
            self._remaining = system.period

    def clock(self) -> SideClock:
        """Return what the clock shows before a move."""
        system, overtime = self.system, None
        if system.period and self._main > 0:
            overtime = Overtime(system.period, system.stones or 1)
        elif system.period:
            overtime = Overtime(self._remaining, self._count if system.stones else 1)
        return SideClock(self._main, system.increment, overtime)
