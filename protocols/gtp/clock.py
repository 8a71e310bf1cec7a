"""The time settings of GTP, KGS and KataGo, and the clock of a player. All times are in seconds."""

from __future__ import annotations

from dataclasses import replace

from agent.game_clock import GameClock, TimeSystem
from agent.lag import LagEstimator, measure_lag
from agent.limits import SideClock
from protocols.gtp.messages import SYNTAX_ERROR, Arguments, GtpError

# The names of `kgs-time_settings` and `kata-time_settings`.
TIME_SYSTEMS = ("none", "absolute", "byoyomi", "canadian", "fischer", "fischer-capped")


UNLIMITED = TimeSystem()


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


class GtpClock(GameClock):
    """The clock of one side, which `time_left` commands adjust. It measures the front end's lag.

    Without a time system, the clock starts with the first `time_left`. If `time_left` reports
    overtime but the time system has none, Canadian overtime is assumed.
    """

    def __init__(self, system: TimeSystem, lag: LagEstimator | None = None) -> None:
        super().__init__(system)
        self._lag = lag or LagEstimator()
        # The clock that the front end reported before the last move, and the planned time for that
        # move.
        self._last_reported: SideClock | None = None
        self._planned_time: float | None = None

    def set_remaining(self, seconds: float, count: int = 0) -> None:
        system = self.system
        if system.main_time is None:
            if not seconds and not count:
                return  # "0 0" means no clock.
            system = TimeSystem(seconds)
        if count > 0 and not system.period:
            system = replace(system, period=seconds, stones=count)
        self.system = system
        super().set_remaining(seconds, count)
        reported = None if count > 0 else SideClock(seconds, system.increment)
        capped = system.max_main_time is not None and seconds >= system.max_main_time
        before, planned = self._last_reported, self._planned_time
        if reported and before and planned is not None and not capped:
            lag = measure_lag(before, reported, planned)
            if lag is not None:
                self._lag.update(lag)
        self._last_reported, self._planned_time = reported, None

    def time_left(self, used: float) -> tuple[float, int]:
        """Return the seconds and the count for `set_remaining`, `used` seconds into a move."""
        overtime, period = used - self._main, self.system.period
        if overtime < 0.0 or not period:
            return max(-overtime, 0.0), 0
        if self.system.periods:
            return period, max(self._count - int(overtime // period), 1)
        return max(self._period - overtime, 0.0), self._count

    def spend(self, seconds: float, planned_time: float | None = None) -> None:
        """Deduct `seconds` for a move, for which the search had planned `planned_time` seconds."""
        if self._planned_time is not None:  # There were two moves without a `time_left` in between.
            self._last_reported = None
        self._planned_time = seconds if planned_time is None else min(seconds, planned_time)
        super().spend(seconds)
