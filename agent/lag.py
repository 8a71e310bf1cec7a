"""Estimates of how late moves reach the external clock, and how much time to reserve.

On a busy machine a few moves are very late, and in time trouble they would lose the game. The
reserve therefore depends on the worst lags of the last few hundred moves.
"""

from __future__ import annotations

from agent.limits import SideClock

# Multiplies the stored lags at each move. Lags halve after 350 moves, which is a few games.
DECAY = 0.998
# The reserve is the worst lag plus this many times the second-worst lag, because the worst may be
# an outlier.
SECOND_WORST_WEIGHT = 2
# Maximum reserve, as a fraction of the largest time that the clock has shown in this game.
MAX_CLOCK_FRACTION = 0.4
# In seconds. A longer delay is not lag: the clock was set, or the game was interrupted.
MAX_LAG = 2.0
# GUIs round clock times up or down to one of these resolutions, in seconds.
CLOCK_RESOLUTIONS = (1.0, 0.1, 0.01, 0.001)
_TOLERANCE = 1e-6  # seconds: tolerance when testing for multiples of a resolution


class LagEstimator:
    """Estimates how much time to reserve, from the lags of recent moves."""

    def __init__(self) -> None:
        self._worst = self._second = 0.0
        self._max_time = 0.0

    def update(self, lag: float) -> None:
        """Add the lag of a move, in seconds."""
        _, self._second, self._worst = sorted((self._worst * DECAY, self._second * DECAY, lag))

    def reserve(self, clock: SideClock | None) -> float:
        """Return the time in seconds that should remain on this clock."""
        if clock is None:
            return 0.0
        self._max_time = max(clock.time, self._max_time)
        return min(
            self._worst + SECOND_WORST_WEIGHT * self._second, MAX_CLOCK_FRACTION * self._max_time
        )

    def new_game(self) -> None:
        """Start another game. The stored lags are kept, because they depend on the machine."""
        self._max_time = 0.0


def measure_lag(before: SideClock, after: SideClock, planned_time: float) -> float | None:
    """Return the lag of a move in seconds, or None if the clock values do not determine it.

    `before` and `after` are the agent's clock at this move and at its next move, after the
    increment was added. `planned_time` is the time in seconds that the search used.
    """
    elapsed = before.time + before.increment - after.time
    resolution = _resolution(before.time, after.time)
    if elapsed < -resolution - _TOLERANCE or elapsed - planned_time > MAX_LAG:
        return None
    return max(elapsed - planned_time - resolution, 0.0)


def _resolution(*times: float) -> float:
    return next(
        (
            unit
            for unit in CLOCK_RESOLUTIONS
            if all(abs(time / unit - round(time / unit)) * unit < _TOLERANCE for time in times)
        ),
        0.0,
    )
