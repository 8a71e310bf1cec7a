"""The engine's clock, which the commands `level`, `st` and `time` set. All times are in seconds."""

from __future__ import annotations

from agent.limits import SideClock
from protocols.xboard.parsing import LevelCommand

# Five minutes for the game.
DEFAULT_LEVEL = LevelCommand(0, 300.0, 0.0)
# A ponder search is restarted if the clock shows less than this fraction of the predicted time.
MIN_PREDICTED_FRACTION = 0.9


class XboardClock:
    """The engine's clock and time control. Moves are counted from the start of the game."""

    def __init__(self) -> None:
        self._level = DEFAULT_LEVEL
        self._level_start = 0
        self._is_set = False
        self._movetime: float | None = None
        self._remaining = DEFAULT_LEVEL.base

    @property
    def is_set(self) -> bool:
        """Return whether the front end has sent any time command."""
        return self._is_set

    @property
    def movetime(self) -> float | None:
        """Return the seconds per move that `st` has set, or None."""
        return self._movetime

    def set_level(self, level: LevelCommand, moves_played: int) -> None:
        """Set a time control that starts after `moves_played` moves."""
        self._level, self._level_start, self._remaining = level, moves_played, level.base
        self._is_set, self._movetime = True, None

    def set_movetime(self, seconds: float) -> None:
        self._is_set, self._movetime = True, seconds

    def set_remaining(self, seconds: float) -> None:
        self._is_set, self._remaining = True, seconds

    def new_game(self) -> None:
        self._level_start, self._remaining = 0, self._level.base

    def spend(self, seconds: float, moves_played: int) -> None:
        """Deduct the seconds used for the engine's move number `moves_played`."""
        level = self._level
        self._remaining += level.increment - seconds
        if level.moves and (moves_played - self._level_start) % level.moves == 0:
            self._remaining += level.base

    def side_clock(self, used: float = 0.0) -> SideClock | None:
        """Return the clock after `used` seconds of thinking, or None for a fixed time per move."""
        if self._movetime is not None:
            return None
        return SideClock(max(self._remaining - used, 0.0), self._level.increment)

    def moves_to_go(self, moves_played: int) -> int | None:
        """Return the number of moves until the next time control, or None."""
        if not self._level.moves or self._movetime is not None:
            return None
        return self._level.moves - (moves_played - self._level_start) % self._level.moves


def is_consistent(predicted: SideClock | None, now: SideClock | None) -> bool:
    """Return whether `now` shows about as much time as `predicted`, or more."""
    if predicted is None or now is None:
        return predicted is now
    return now.time >= MIN_PREDICTED_FRACTION * predicted.time
