"""What moves cost on the clock beyond what they were meant to cost, and how much is kept for it.

A clock that somebody else holds runs on while a move is on its way, and while other programs have
the processor. How long that was for a move shows when the clock comes back with the next one. On a
busy machine most moves are on time and a few are much too late, so it is the worst of the last
hundreds of moves that count: the flag falls when a few like them come while little is left.
"""

from __future__ import annotations

from agent.limits import SideClock

# What a lag counts for after one move more: half of it after 350, some games.
MEMORY = 0.998
# Kept for one like the worst, and for so many like the second: that may have been the only one.
MORE = 2
# But no more than this share of the most that the game's clock has shown.
MOST_SHARE = 0.4
# Nothing that takes longer is a lag: the clock was set, or the game was interrupted.
LONGEST = 2.0
# Front ends round the time that they tell to one of these, up or down.
GRAINS = (1.0, 0.1, 0.01, 0.001)
_EXACT = 1e-6  # how far from a multiple a time may be that is one, in seconds


class Lag:
    """What the lags of the last moves have taught."""

    def __init__(self) -> None:
        self._worst = self._second = 0.0
        self._most_time = 0.0

    def learn(self, lag: float) -> None:
        """Take note of how much later than meant a move came."""
        _, self._second, self._worst = sorted((self._worst * MEMORY, self._second * MEMORY, lag))

    def reserve(self, clock: SideClock | None) -> float:
        """Return how many seconds to keep of a game's clock that shows this."""
        if clock is None:
            return 0.0
        self._most_time = max(clock.time, self._most_time)
        return min(self._worst + MORE * self._second, MOST_SHARE * self._most_time)

    def new_game(self) -> None:
        """Take the next clock for another game's; what is known of the machine stays."""
        self._most_time = 0.0


def lag_between(before: SideClock, after: SideClock, meant: float) -> float | None:
    """Return how much later than meant a move reached the clock; None if the clock does not tell.

    before, after: our clock at that move and at our next one; the increment came in between.
    meant: what the move was to take.
    """
    took = before.time + before.increment - after.time
    grain = _grain(before.time, after.time)
    if took < -grain - _EXACT or took - meant > LONGEST:
        return None
    return max(took - meant - grain, 0.0)


def _grain(*times: float) -> float:
    """Return how much less than the truth these times may tell: the coarsest unit of them all."""
    return next(
        (
            grain
            for grain in GRAINS
            if all(abs(time / grain - round(time / grain)) * grain < _EXACT for time in times)
        ),
        0.0,
    )
