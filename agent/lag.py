"""What moves cost on the clock beyond what they were meant to cost, and how much is kept for it.

A clock that somebody else holds runs on while a move is on its way, and while other programs have
the processor. How long that was for a move shows when the clock comes back with the next one. On a
busy machine most moves are on time and a few are much too late, so it is the worst of the last
hundreds of moves that count: the flag falls when a few like them come while little is left.
"""

from __future__ import annotations

from agent.limits import SideClock

# What a lag counts for after one move more: half of it after 350, some games.
DECAY = 0.998
# Kept for one like the worst, and for so many like the second: that may have been the only one.
SECOND_WORST_WEIGHT = 2
# But no more than this share of the most that the game's clock has shown.
MAX_CLOCK_FRACTION = 0.4
# Nothing that takes longer is a lag: the clock was set, or the game was interrupted.
MAX_LAG = 2.0
# Front ends round the time that they tell to one of these, up or down.
CLOCK_RESOLUTIONS = (1.0, 0.1, 0.01, 0.001)
_TOLERANCE = 1e-6  # how far from a multiple a time may be that is one, in seconds


class LagEstimator:
    """What the lags of the last moves have taught."""

    def __init__(self) -> None:
        self._worst = self._second = 0.0
        self._max_time = 0.0

    def update(self, lag: float) -> None:
        """Take note of how much later than meant a move came."""
        _, self._second, self._worst = sorted((self._worst * DECAY, self._second * DECAY, lag))

    def reserve(self, clock: SideClock | None) -> float:
        """Return how many seconds to keep of a game's clock that shows this."""
        if clock is None:
            return 0.0
        self._max_time = max(clock.time, self._max_time)
        return min(
            self._worst + SECOND_WORST_WEIGHT * self._second, MAX_CLOCK_FRACTION * self._max_time
        )

    def new_game(self) -> None:
        """Take the next clock for another game's; what is known of the machine stays."""
        self._max_time = 0.0


def measure_lag(before: SideClock, after: SideClock, planned_time: float) -> float | None:
    """Return how much later than meant a move reached the clock; None if the clock does not tell.

    before, after: our clock at that move and at our next one; the increment came in between.
    meant: what the move was to take.
    """
    took = before.time + before.increment - after.time
    grain = _resolution(before.time, after.time)
    if took < -grain - _TOLERANCE or took - planned_time > MAX_LAG:
        return None
    return max(took - planned_time - grain, 0.0)


def _resolution(*times: float) -> float:
    """Return how much less than the truth these times may tell: the coarsest unit of them all."""
    return next(
        (
            grain
            for grain in CLOCK_RESOLUTIONS
            if all(abs(time / grain - round(time / grain)) * grain < _TOLERANCE for time in times)
        ),
        0.0,
    )
