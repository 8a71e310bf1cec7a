"""Values on whatever scale as the whole numbers that searches count in, and back.

For games whose evaluations may be on any scale (see agent.games.catalogue). Order and sign stay,
and three digits of any value up to 16 million; values below a thousandth are told apart evenly.
"""

from math import asinh, sinh

from agent.kernel.scores import MAX_EVALUATION

_LINEAR_BELOW = 0.001  # below about this the scale is linear, above logarithmic
_STEPS_PER_E = 1200  # of the logarithm to a factor of e
_MAX_VALUE = 1.5e7


def to_score(value: float) -> int:
    """Return a finite value as a score: of -x it is minus that of x."""
    limited = min(max(value, -_MAX_VALUE), _MAX_VALUE)
    return min(
        max(round(_STEPS_PER_E * asinh(limited / _LINEAR_BELOW)), -MAX_EVALUATION), MAX_EVALUATION
    )


def to_value(score: int) -> float:
    """Return about the value that has a score."""
    return _LINEAR_BELOW * sinh(score / _STEPS_PER_E)
