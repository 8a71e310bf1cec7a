"""Conversion between values on any scale and the integer scores of compiled searches.

This module is for games whose evaluations can have any scale (see `agent.games.catalogue`). The
mapping is monotonic and odd. It keeps three significant digits of values up to 15 million. Below
about 0.001 it is linear.
"""

from math import asinh, sinh

from agent.kernel.scores import MAX_EVALUATION

_LINEAR_BELOW = 0.001  # the scale is linear below about this value, and logarithmic above
_STEPS_PER_E = 1200  # scores per factor of e
_MAX_VALUE = 1.5e7


def to_score(value: float) -> int:
    """Convert a finite value to a score. The score for -x is minus the score for x."""
    limited = min(max(value, -_MAX_VALUE), _MAX_VALUE)
    return min(
        max(round(_STEPS_PER_E * asinh(limited / _LINEAR_BELOW)), -MAX_EVALUATION), MAX_EVALUATION
    )


def to_value(score: int) -> float:
    """Convert a score back to an approximate value."""
    return _LINEAR_BELOW * sinh(score / _STEPS_PER_E)
