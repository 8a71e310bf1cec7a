"""Our clock as the protocol tells of it: `level` or `st`, and `time` before each move.

All times are seconds. Where no front end tells the time left, it is reckoned from our moves.
"""

from __future__ import annotations

from agent.limits import SideClock
from protocols.xboard.values import LevelCommand

# Where nobody says what is left: five minutes for the game.
USUAL = LevelCommand(0, 300.0, 0.0)
# A clock that shows this much less than was reckoned is another clock: a search that went by the
# reckoning begins anew.
LEAST_OF_RECKONED = 0.9


class XboardClock:
    """What one move may take. A number of moves is counted in our own, from the game's start."""

    def __init__(self) -> None:
        self._level = USUAL
        self._from = 0
        self._told = False
        self._movetime: float | None = None
        self._left = USUAL.base

    @property
    def told(self) -> bool:
        """Whether anything has been said of time."""
        return self._told

    @property
    def movetime(self) -> float | None:
        """Seconds for each move, by `st`."""
        return self._movetime

    def set_level(self, level: LevelCommand, played: int) -> None:
        """Go by another time control, after so many moves: it is what is left for the next."""
        self._level, self._from, self._left = level, played, level.base
        self._told, self._movetime = True, None

    def set_movetime(self, seconds: float) -> None:
        """Take so long for each move, and no longer."""
        self._told, self._movetime = True, seconds

    def set_left(self, seconds: float) -> None:
        """Believe the front end."""
        self._told, self._left = True, seconds

    def new_game(self) -> None:
        """Begin at the start of the time control."""
        self._from, self._left = 0, self._level.base

    def spend(self, seconds: float, played: int) -> None:
        """Reckon what is left after a move of ours, the `played`-th."""
        level = self._level
        self._left += level.increment - seconds
        if level.moves and (played - self._from) % level.moves == 0:
            self._left += level.base

    def side_clock(self, used: float = 0.0) -> SideClock | None:
        """Return what the clock shows after `used` seconds of the move; None by `st`."""
        if self._movetime is not None:
            return None
        return SideClock(max(self._left - used, 0.0), self._level.increment)

    def moves_to_go(self, played: int) -> int | None:
        """Return how many moves, after so many, are to be made in what is left."""
        if not self._level.moves or self._movetime is not None:
            return None
        return self._level.moves - (played - self._from) % self._level.moves


def holds(reckoned: SideClock | None, now: SideClock | None) -> bool:
    """Tell whether a clock shows about what was reckoned, or more."""
    if reckoned is None or now is None:
        return reckoned is now
    return now.time >= LEAST_OF_RECKONED * reckoned.time
