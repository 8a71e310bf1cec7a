"""Scoring of finished games, so that every win outranks every evaluation.

Searches multiply utilities by WIN_SCALE, a power of two, which loses no precision. In these
internal values, wins and losses are greater in magnitude than MAX_EVALUATION. This is faster than
pairs of a rank and a value. Reported values are divided by WIN_SCALE again.

Values are not scaled in games with outcomes on the scale of evaluations (`HasTerminalValues`), nor
in games of chance, where values are averaged.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf, nextafter
from typing import Any

from agent.evaluation_types import require_finite

# Value of a win inside searches. The largest float is about 2**1024.
WIN_SCALE = 2.0**900
# Evaluations are clamped to this value. Scaled utilities of at least 2**-40 exceed it.
MAX_EVALUATION = 2.0**860


@dataclass(frozen=True, slots=True)
class TerminalScoring:
    """The value of a finished game: utility * win, moved towards 0 by `ply_penalty` per ply.

    The penalty makes quick wins better than slow wins. `max_ply` is the maximum ply of a search.
    `scale` is the factor by which all values are multiplied inside searches.
    """

    win: float = 1
    ply_penalty: float = 0
    max_ply: int = 1000
    scale: float = 1
    _win: float = field(init=False, repr=False)
    _ply_penalty: float = field(init=False, repr=False)
    # Values whose absolute value is at least this are wins or losses.
    _min_win: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        win, ply_penalty = self.win * self.scale, self.ply_penalty * self.scale
        min_win = win - ply_penalty * self.max_ply
        if self.scale == WIN_SCALE:
            min_win = nextafter(MAX_EVALUATION, inf)
        for name, value in (("_win", win), ("_ply_penalty", ply_penalty), ("_min_win", min_win)):
            object.__setattr__(self, name, value)

    def value(self, utility: float, ply: int) -> float:
        """Return the value of a game that ended at `ply` with `utility` for the player to move."""
        if utility > 0:
            return utility * self._win - self._ply_penalty * ply
        if utility < 0:
            return utility * self._win + self._ply_penalty * ply
        return utility * self._win  # integers remain integers if all values are integers

    def to_table(self, value: float, ply: int) -> float:
        """Convert a value found at `ply` to a table value, which is relative to its position."""
        return value + self._ply_correction(value, ply)

    def from_table(self, value: float, ply: int) -> float:
        """Convert a table value to a value at `ply`. This is the inverse of `to_table`."""
        return value - self._ply_correction(value, ply)

    def is_decisive(self, value: float) -> bool:
        """Return whether a value is that of a win or loss rather than an evaluation."""
        return abs(value) >= self._min_win

    def unscaled(self, value: float) -> float:
        """Convert an internal value, in which wins are scaled up, to a reported value."""
        if self.scale == 1 or not self._min_win <= abs(value) < inf:
            return value
        return _int_if_integral(value / self.scale)

    def without_scale(self) -> "TerminalScoring":
        return replace(self, scale=1)

    def _ply_correction(self, value: float, ply: int) -> float:
        if not self._ply_penalty or not self.is_decisive(value):
            return 0
        return self._ply_penalty * ply if value > 0 else -self._ply_penalty * ply


DEFAULT_SCORING = TerminalScoring(scale=WIN_SCALE)


def utility(value: float) -> float | None:
    """Return the utility of a win or loss, or None if the internal value is an evaluation."""
    return _int_if_integral(value / WIN_SCALE) if MAX_EVALUATION < abs(value) < inf else None


def clamp_evaluation(value: float, evaluate: Callable[[Any], float]) -> float:
    """Clamp a value returned by `evaluate`. Raise EvaluationError if it is infinite or NaN."""
    name = getattr(evaluate, "__name__", repr(evaluate))
    return max(-MAX_EVALUATION, min(MAX_EVALUATION, require_finite(name, value)))


def _int_if_integral(number: float) -> float:
    return int(number) if number == int(number) else number
