"""The bounds between which a share of wins very probably lies, by how many playouts it is of.

Source: A. Agresti and B. Coull, 'Approximate is better than exact for interval estimation of
binomial proportions' (1998): a few playouts that all ended alike prove little.
"""

from math import sqrt

# A mean lies on one side of either bound but for one time in 40.
Z_SCORE = 1.96


def lower_confidence_bound(rate: float, visits: int) -> float:
    """Return the lower bound of a rate found in so many visits, one at least; it may be negative.

    It lies about the rate, as front ends draw it, and not about the centre that the source has;
    the spread is as if one playout more had been won and one lost.
    """
    spread = (rate * visits + 1) / (visits + 2)
    return rate - Z_SCORE * sqrt(spread * (1 - spread) / visits)


def upper_confidence_bound(rate: float, visits: int) -> float:
    """Return the upper bound of a rate found in so many visits."""
    square = Z_SCORE**2
    number = visits + square
    centre = (rate * visits + square / 2) / number
    return centre + Z_SCORE * sqrt(centre * (1 - centre) / number)
