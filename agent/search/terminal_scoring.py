"""How the end of a game becomes a value of the search.

An evaluation estimates, an end is known: so a win outranks every evaluation, and every evaluation
a loss, whatever scale the evaluation is on. For that searches multiply utilities by OUTRANKING, a
power of two, so that nothing is lost of them, and divide what they report by it: inside, an end
lies beyond MOST, which no evaluation does; outside, a win is worth its utility and an evaluation
what it returned. Plain numbers, rather than pairs of rank and value, cost the searches nothing.

Where ends are values like those of evaluations (see `Valued` in agent.game) nothing is multiplied.
Neither is it in games of chance, whose values are averages: there a win is worth more than its
utility only when an evaluation says more than that (see agent.search.algorithms.expectiminimax).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf, nextafter
from typing import Any

from agent.evaluation_types import require_finite

# The worth of a win inside searches. The greatest number is about 2 ** 1024.
WIN_SCALE = 2.0**900
# The most that an evaluation counts; what it returns beyond counts as this. Utilities from
# 2 ** -40 on outrank it.
MAX_EVALUATION = 2.0**860


@dataclass(frozen=True, slots=True)
class TerminalScoring:
    """A game that ends with utility u at ply p is worth u * win, taken p * step nearer to 0.

    The step makes a quick win better than a slow one. The default takes the utilities as they
    are, as the textbook does. longest: the most plies that a search looks ahead. unit: what all
    that is multiplied by inside searches.
    """

    win: float = 1
    ply_penalty: float = 0
    max_ply: int = 1000
    scale: float = 1
    _win: float = field(init=False, repr=False)
    _ply_penalty: float = field(init=False, repr=False)
    # Values from here on are of ends.
    _min_win: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        win, ply_penalty = self.win * self.scale, self.ply_penalty * self.scale
        least = win - ply_penalty * self.max_ply
        if self.scale == WIN_SCALE:
            least = nextafter(MAX_EVALUATION, inf)
        for name, value in (("_win", win), ("_ply_penalty", ply_penalty), ("_min_win", least)):
            object.__setattr__(self, name, value)

    def value(self, utility: float, ply: int) -> float:
        """Return the value, for the mover, of an end at `ply` with the mover's utility."""
        if utility > 0:
            return utility * self._win - self._ply_penalty * ply
        if utility < 0:
            return utility * self._win + self._ply_penalty * ply
        return utility * self._win  # 0, whole only where all values may be

    def to_table(self, value: float, ply: int) -> float:
        """Return a value found at `ply` as it is seen from there, to be kept in a table."""
        return value + self._ply_correction(value, ply)

    def from_table(self, value: float, ply: int) -> float:
        """Return a value that was kept in a table as it is seen at `ply`: undo `relative`."""
        return value - self._ply_correction(value, ply)

    def is_decisive(self, value: float) -> bool:
        """Tell whether a value says that the game ends in a win, rather than an evaluation."""
        return abs(value) >= self._min_win

    def unscaled(self, value: float) -> float:
        """Return a value as it is told to others: an end's without the unit."""
        if self.scale == 1 or not self._min_win <= abs(value) < inf:
            return value
        return _int_if_integral(value / self.scale)

    def without_scale(self) -> "TerminalScoring":
        """Return the same on the scale of the utilities."""
        return replace(self, scale=1)

    def _ply_correction(self, value: float, ply: int) -> float:
        if not self._ply_penalty or not self.is_decisive(value):
            return 0
        return self._ply_penalty * ply if value > 0 else -self._ply_penalty * ply


DEFAULT_SCORING = TerminalScoring(scale=WIN_SCALE)


def utility(value: float) -> float | None:
    """Return the utility of an end that outranks evaluations; None of any other value."""
    return _int_if_integral(value / WIN_SCALE) if MAX_EVALUATION < abs(value) < inf else None


def clamp_evaluation(value: float, evaluate: Callable[[Any], float]) -> float:
    """Return what an evaluation returned, as far as it counts.

    Raises EvaluationError, naming the function, if that is infinite or not a number.
    """
    name = getattr(evaluate, "__name__", repr(evaluate))
    return max(-MAX_EVALUATION, min(MAX_EVALUATION, require_finite(name, value)))


def _int_if_integral(number: float) -> float:
    return int(number) if number == int(number) else number
