"""Time systems for Go and the clock of a player. All times are in seconds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent.lag import LagEstimator, measure_lag
from agent.limits import Overtime, SideClock
from protocols.gtp.messages import SYNTAX_ERROR, Arguments, GtpError

# The names of `kgs-time_settings` and `kata-time_settings`.
TIME_SYSTEMS = ("none", "absolute", "byoyomi", "canadian", "fischer", "fischer-capped")


@dataclass(frozen=True, slots=True)
class TimeSystem:
    """A main time with Canadian overtime, byo-yomi or an increment per move."""

    main_time: float = 0.0
    period: float = 0.0  # duration of an overtime period
    stones: int = 0  # Canadian overtime: number of moves per period
    periods: int = 0  # byo-yomi: number of periods
    increment: float = 0.0
    max_main_time: float | None = None  # limits the main time with increments
    max_move_time: float | None = None
    unlimited: bool = False


UNLIMITED = TimeSystem(unlimited=True)


def from_time_settings(main: float, period: float, stones: int) -> TimeSystem:
    """Return the time system of a `time_settings` command. Overtime with 0 stones is unlimited."""
    if period > 0 and stones == 0:
        return UNLIMITED
    return TimeSystem(main, period if stones else 0.0, stones if period else 0)


def read_time_system(arguments: Arguments) -> TimeSystem:
    """Parse the arguments of `kata-time_settings`, in which a negative limit means no limit."""
    name = arguments.word().lower()
    if name == "none":
        return UNLIMITED
    if name not in TIME_SYSTEMS:
        raise GtpError(
            f"{SYNTAX_ERROR}: unknown time system {name} "
            f"(expected one of: {', '.join(TIME_SYSTEMS)})"
        )
    main = arguments.seconds()
    if name == "absolute":
        return TimeSystem(main)
    period = arguments.seconds()
    if name == "fischer":
        return TimeSystem(main, increment=period)
    if name == "fischer-capped":
        max_main_time, max_move_time = _limit(arguments.real()), _limit(arguments.real())
        if max_main_time is not None and max_main_time < main:
            raise GtpError(
                f"{SYNTAX_ERROR}: the limit of the main time must not be below the main time"
            )
        return TimeSystem(
            main, increment=period, max_main_time=max_main_time, max_move_time=max_move_time
        )
    count = arguments.integer()
    if not (period and count):
        return TimeSystem(main)
    if name == "byoyomi":
        return TimeSystem(main, period, periods=count)
    return TimeSystem(main, period, count)


def _limit(seconds: float) -> float | None:
    return None if seconds < 0 else seconds


class GtpClock:
    """The clock of one side, which `time_left` commands adjust.

    Without a time system, the clock starts with the first `time_left`. If `time_left` reports
    overtime but the time system has none, Canadian overtime is assumed.
    """

    def __init__(self, system: TimeSystem, lag: LagEstimator | None = None) -> None:
        self.system = system
        self._lag = lag or LagEstimator()
        # The clock that the front end reported before the last move, and the planned time for that
        # move.
        self._last_reported: SideClock | None = None
        self._planned_time: float | None = None
        self._main = system.main_time
        # In overtime: the remaining seconds of the period, and the remaining stones or periods.
        self._remaining = system.period
        self._count = system.stones or system.periods

    def set_remaining(self, seconds: float, count: int) -> None:
        """Set the remaining main time, or the remaining overtime if `count` is not 0.

        In Canadian overtime, `count` is the number of stones left in the period. In byo-yomi, it is
        the number of periods left.
        """
        system = self.system
        if system.unlimited:
            if not seconds and not count:
                return  # "0 0" means no clock.
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
        """Deduct `seconds` for a move, for which the search had planned `planned_time` seconds."""
        if self._planned_time is not None:  # There were two moves without a `time_left` in between.
            self._last_reported = None
        self._planned_time = seconds if planned_time is None else min(seconds, planned_time)
        system = self.system
        self._main += system.increment
        if self._main > seconds:
            self._main -= seconds
            if system.max_main_time is not None:
                self._main = min(self._main, system.max_main_time)
            return
        overtime = seconds - self._main
        self._main = 0.0
        if system.stones:
            self._remaining -= overtime
            self._count -= 1
            if self._count < 1:
                self._remaining, self._count = system.period, system.stones
        elif system.periods:
            self._count = max(1, self._count - int(overtime // system.period))
            self._remaining = system.period

    def clock(self) -> SideClock:
        system, overtime = self.system, None
        if system.period and self._main > 0:
            overtime = Overtime(system.period, system.stones or 1)
        elif system.period:
            overtime = Overtime(self._remaining, self._count if system.stones else 1)
        return SideClock(self._main, system.increment, overtime)
