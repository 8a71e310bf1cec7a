"""Our clock as the protocol tells of it: `level` or `st`, and `time` before each move.

All times are seconds. Where no front end tells the time left, it is reckoned from our moves.
"""

from __future__ import annotations

from agent.limits import SideClock
from protocols.xboard.parsing import LevelCommand

# Where nobody says what is left: five minutes for the game.
DEFAULT_LEVEL = LevelCommand(0, 300.0, 0.0)
# A clock that shows this much less than was reckoned is another clock: a search that went by the
# reckoning begins anew.
MIN_PREDICTED_FRACTION = 0.9


class XboardClock:
    """What one move may take. A number of moves is counted in our own, from the game's start."""

    def __init__(self) -> None:
        self._level = DEFAULT_LEVEL
        self._level_start = 0
        self._is_set = False
        self._movetime: float | None = None
        self._remaining = DEFAULT_LEVEL.base

    @property
    def is_set(self) -> bool:
        """Whether anything has been said of time."""
        return self._is_set

    @property
    def movetime(self) -> float | None:
        """Seconds for each move, by `st`."""
        return self._movetime

    def set_level(self, level: LevelCommand, moves_played: int) -> None:
        """Go by another time control, after so many moves: it is what is left for the next."""
        self._level, self._level_start, self._remaining = level, moves_played, level.base
        self._is_set, self._movetime = True, None

    def set_movetime(self, seconds: float) -> None:
        """Take so long for each move, and no longer."""
        self._is_set, self._movetime = True, seconds

    def set_remaining(self, seconds: float) -> None:
        """Believe the front end."""
        self._is_set, self._remaining = True, seconds

    def new_game(self) -> None:
        """Begin at the start of the time control."""
        self._level_start, self._remaining = 0, self._level.base

    def spend(self, seconds: float, moves_played: int) -> None:
        """Reckon what is left after a move of ours, the `played`-th."""
        level = self._level
        self._remaining += level.increment - seconds
        if level.moves and (moves_played - self._level_start) % level.moves == 0:
            self._remaining += level.base

    def side_clock(self, used: float = 0.0) -> SideClock | None:
        """Return what the clock shows after `used` seconds of the move; None by `st`."""
        if self._movetime is not None:
            return None
        return SideClock(max(self._remaining - used, 0.0), self._level.increment)

    def moves_to_go(self, moves_played: int) -> int | None:
        """Return how many moves, after so many, are to be made in what is left."""
        if not self._level.moves or self._movetime is not None:
            return None
        return self._level.moves - (moves_played - self._level_start) % self._level.moves


def is_consistent(predicted: SideClock | None, now: SideClock | None) -> bool:
    """Tell whether a clock shows about what was reckoned, or more."""
    if predicted is None or now is None:
        return predicted is now
    return now.time >= MIN_PREDICTED_FRACTION * predicted.time
