"""Compare two players by Elo, normalised Elo, likelihood of superiority, and SPRT.

The functions take counts of outcomes, worst first. Single games have the outcomes loss, draw and
win. Pairs of games with swapped colours have LL, LD, LW or DD, DW, and WW.

Sources: Van den Bergh, 'Normalized Elo' (2020) and 'The Generalized Maximum Likelihood Ratio for
the expectation value of a distribution' (2019).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

# Slope of logistic Elo at a score of 1/2. Normalised Elo uses the same scale.
NORMALIZED_ELO = 800 / math.log(10)
Z95 = 1.959963984540054
# Pseudocount of an outcome that did not occur, which keeps the likelihood ratio finite.
MIN_LLR_WEIGHT = 0.001
# Pseudocount of an outcome that did not occur, for estimates. With this value, the intervals for a
# few games that were all won or all drawn have about the nominal coverage.
UNSEEN_OUTCOME_WEIGHT = 0.3
# Maximum half width of an interval in Elo, as a multiple of its linear approximation at the mean.
# An interval of scores may include 0 or 1, where Elo is infinite.
MAX_INTERVAL_STRETCH = 1.1


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and half the width of its 95% confidence interval."""

    value: float
    error: float


@dataclass(frozen=True, slots=True)
class StrengthEstimate:
    """The estimated difference in strength between two players.

    `score` is the first player's fraction of the points. `los` is its likelihood of superiority,
    from 0 to 1. If the interval of `elo` excludes 0, `los` is above 0.975 or below 0.025.
    """

    score: float
    elo: Estimate
    normalized: Estimate
    los: float


def elo_from_score(score: float) -> float:
    """Return the logistic Elo difference for a mean score. It is infinite for a score of 0 or 1."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return 400 * math.log10(score / (1 - score))


def score_from_elo(elo: float) -> float:
    return float(1 / (1 + 10 ** (-elo / 400)))


def estimate_strength(counts: Sequence[int]) -> StrengthEstimate:
    """Return the estimated difference in strength. Raise ValueError if all counts are 0.

    An outcome that did not occur gets the pseudocount UNSEEN_OUTCOME_WEIGHT. Few or identical
    results therefore give a wide interval and a bounded Elo.
    """
    total, weights = _weights(counts, UNSEEN_OUTCOME_WEIGHT)
    scores = _scores(len(counts))
    mean, deviation = _moments(scores, weights)
    elo = elo_from_score(mean)
    spread = Z95 * deviation / math.sqrt(total)
    linear_error = spread * NORMALIZED_ELO / (2 * mean * (1 - mean))
    error = (elo_from_score(mean + spread) - elo_from_score(mean - spread)) / 2
    error = min(error, MAX_INTERVAL_STRETCH * linear_error)
    # As the interval becomes nonlinear, blend from the z-score of the mean to that of the Elo
    # interval.
    blend = (error / linear_error - 1) / (MAX_INTERVAL_STRETCH - 1)
    z_score = (1 - blend) * (mean - 0.5) * math.sqrt(total) / deviation
    z_score += blend * Z95 * elo / error
    scale = NORMALIZED_ELO / _games_factor(len(counts))
    return StrengthEstimate(
        score=sum(s * n for s, n in zip(scores, counts, strict=True)) / sum(counts),
        elo=Estimate(elo, error),
        normalized=Estimate(scale * (mean - 0.5) / deviation, Z95 * scale / math.sqrt(total)),
        los=_normal_cdf(z_score),
    )


def estimate_difference(pairs: Sequence[int], games: Sequence[int]) -> StrengthEstimate | None:
    """Return the estimated difference between two players, or None without results.

    The counts of complete pairs are more precise. They are used if at least half of the games
    belong to complete pairs, and otherwise the counts of games.
    """
    if 4 * sum(pairs) >= sum(games) > 0:
        return estimate_strength(pairs)
    return estimate_strength(games) if any(games) else None


def log_likelihood_ratio(
    counts: Sequence[int], elo0: float, elo1: float, *, normalized: bool
) -> float:
    """Return the generalised log-likelihood ratio of hypothesis `elo1` against `elo0`.

    The multinomial likelihood is maximised under each hypothesis. `elo0` and `elo1` are normalised
    Elo if `normalized` is true, and logistic Elo otherwise.
    """
    if sum(counts) == 0:
        return 0.0
    total, weights = _weights(counts, MIN_LLR_WEIGHT)
    scores = _scores(len(counts))
    if normalized:
        factor = _games_factor(len(counts)) / NORMALIZED_ELO
        fits = [_fit_ratio(scores, weights, factor * elo) for elo in (elo0, elo1)]
    else:
        fits = [_fit_mean(scores, weights, score_from_elo(elo)) for elo in (elo0, elo1)]
    pairs = zip(weights, fits[0], fits[1], strict=True)
    return total * sum(q * math.log(p1 / p0) for q, p0, p1 in pairs)


def sprt_bounds(alpha: float, beta: float) -> tuple[float, float]:
    """Return Wald's bounds of the log-likelihood ratio for accepting elo0 and elo1."""
    return math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)


def _games_factor(outcomes: int) -> float:
    # Ratio of the standard deviation of a game's score to that of a pair's score, if the games of a
    # pair are independent.
    return math.sqrt((outcomes - 1) / 2)


def _scores(outcomes: int) -> list[float]:
    return [i / (outcomes - 1) for i in range(outcomes)]


def _weights(counts: Sequence[int], unseen: float) -> tuple[float, list[float]]:
    if sum(counts) == 0:
        raise ValueError("no results")
    filled = [count or unseen for count in counts]
    total = sum(filled)
    return total, [count / total for count in filled]


def _moments(scores: Sequence[float], weights: Sequence[float]) -> tuple[float, float]:
    # Sum the differences from 1/2, so that equal results give exactly 1/2.
    mean = 0.5 + math.fsum(w * (s - 0.5) for s, w in zip(scores, weights, strict=True))
    variance = sum(w * (s - mean) ** 2 for s, w in zip(scores, weights, strict=True))
    return mean, math.sqrt(variance)


def _normal_cdf(x: float) -> float:
    return (1 + math.erf(x / math.sqrt(2))) / 2


def _fit_mean(scores: Sequence[float], weights: Sequence[float], mean: float) -> list[float]:
    return _tilt([score - mean for score in scores], weights)


def _fit_ratio(scores: Sequence[float], weights: Sequence[float], ratio: float) -> list[float]:
    """Return the maximum-likelihood probabilities with (mean - 1/2) / deviation = `ratio`."""
    # Begin with the distribution on the scores 0 and 1 that has this ratio: the gradients then have
    # both signs for any ratio.
    deviation = 0.5 / math.sqrt(1 + ratio * ratio)
    mean = 0.5 + ratio * deviation
    fit = [0.0] * len(scores)
    for _ in range(50):
        gradients = [
            score - 0.5 - ratio * deviation * (1 + ((score - mean) / deviation) ** 2) / 2
            for score in scores
        ]
        previous, fit = fit, _tilt(gradients, weights)
        if max(abs(a - b) for a, b in zip(previous, fit, strict=True)) < 1e-12:
            break
        mean, deviation = _moments(scores, fit)
    return fit


def _tilt(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Return p_i = q_i / (1 + theta v_i), with theta chosen such that sum p_i v_i = 0.

    q_i are the normalised `weights`, and v_i the `values`.
    """
    low, high = -1 / max(values), -1 / min(values)

    def slope(theta: float) -> float:
        return sum(q * v / (1 + theta * v) for q, v in zip(weights, values, strict=True))

    theta = _falling_root(slope, low, high)
    return [q / (1 + theta * v) for q, v in zip(weights, values, strict=True)]


def _falling_root(function: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if function(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
