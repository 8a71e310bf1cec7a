"""Confidence bounds for a win rate, given the number of playouts.

Source: A. Agresti and B. Coull, 'Approximate is better than exact for interval estimation of
binomial proportions' (1998).
"""

from math import sqrt

Z_SCORE = 1.96  # two-sided 95 % confidence interval


def lower_confidence_bound(rate: float, visits: int) -> float:
    """Return the lower bound of a win rate, possibly below 0. `visits` must be at least 1.

    Unlike in the source, the interval is centred on `rate`, as front ends draw it. Its width is
    computed with one additional win and one additional loss.
    """
    spread = (rate * visits + 1) / (visits + 2)
    return rate - Z_SCORE * sqrt(spread * (1 - spread) / visits)


def upper_confidence_bound(rate: float, visits: int) -> float:
    """Return the upper bound, possibly above 1, of a win rate after `visits` visits."""
    square = Z_SCORE**2
    n = visits + square
    centre = (rate * visits + square / 2) / n
    return centre + Z_SCORE * sqrt(centre * (1 - centre) / n)
