"""Conversion between values on any scale and the integer scores of compiled searches.

The mapping is monotonic and odd. It is linear below about 0.001, and keeps three significant digits
up to 15 million.
"""

from math import asinh, sinh

from agent.kernel.scores import MAX_EVALUATION

_LINEAR_BELOW = 0.001  # the scale is linear below about this value, and logarithmic above
_STEPS_PER_E = 1200  # scores per factor of e
_MAX_VALUE = 1.5e7


def to_score(value: float) -> int:
    """Convert a finite value to a score from -MAX_EVALUATION to MAX_EVALUATION."""
    limited = min(max(value, -_MAX_VALUE), _MAX_VALUE)
    return min(
        max(round(_STEPS_PER_E * asinh(limited / _LINEAR_BELOW)), -MAX_EVALUATION), MAX_EVALUATION
    )


def to_value(score: int) -> float:
    """Convert a score back to an approximate value."""
    return _LINEAR_BELOW * sinh(score / _STEPS_PER_E)
