"""Is A stronger than B? Elo, normalised Elo, likelihood of superiority, and SPRT.

Functions take counts of outcomes, worst first, whose scores are evenly spaced from 0 to 1:
three counts (losses, draws, wins) of games, or five (LL, LD, LW and DD, DW, WW) of pairs of
games on one opening with colours swapped. Sources: Van den Bergh, 'Normalized Elo' (2020) and
'The Generalized Maximum Likelihood Ratio for the expectation value of a distribution' (2019).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

# 800 / ln(10): logistic Elo per unit of score at 1/2, which scales normalised Elo to match.
NORMALIZED_ELO = 800 / math.log(10)
Z95 = 1.959963984540054
# Keeps the likelihood ratio finite while an outcome has not been seen.
MIN_LLR_WEIGHT = 0.001
# What an outcome that has not been seen counts in estimates: with it the intervals of a few games,
# all won or all drawn, hold the truth about as often as they say.
UNSEEN_OUTCOME_WEIGHT = 0.3
# An interval of scores may reach to 0 or 1, where Elo is infinite: half of it, in Elo, is at most
# so many times what the slope at the mean makes of it.
MAX_INTERVAL_STRETCH = 1.1


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measured value and half of its 95% confidence interval."""

    value: float
    error: float


@dataclass(frozen=True, slots=True)
class StrengthEstimate:
    """What counts of games, or of pairs, say about the difference between two players.

    score: the share of the points. los: the likelihood that the first is the stronger, 0 to 1;
    beyond 0.975 or 0.025 where the interval of `elo` leaves out 0.
    """

    score: float
    elo: Estimate
    normalized: Estimate
    los: float


def elo_from_score(score: float) -> float:
    """Return the logistic Elo difference that a mean score stands for; infinite at 0 and 1."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return 400 * math.log10(score / (1 - score))


def score_from_elo(elo: float) -> float:
    """Return the expected score at a logistic Elo difference."""
    return float(1 / (1 + 10 ** (-elo / 400)))


def estimate_strength(counts: Sequence[int]) -> StrengthEstimate:
    """Return the estimates that the counts allow; there must be at least one outcome.

    Once every outcome has been seen these are the field's own formulas, as match runners print
    them. An outcome that has not been seen counts as a fraction of one (`MISSED`): a few games,
    or all alike, leave a wide interval and a difference that is no greater than they can show.
    """
    total, weights = _weights(counts, UNSEEN_OUTCOME_WEIGHT)
    scores = _scores(len(counts))
    mean, deviation = _moments(scores, weights)
    elo = elo_from_score(mean)
    spread = Z95 * deviation / math.sqrt(total)
    straight = spread * NORMALIZED_ELO / (2 * mean * (1 - mean))
    error = (elo_from_score(mean + spread) - elo_from_score(mean - spread)) / 2
    error = min(error, MAX_INTERVAL_STRETCH * straight)
    # The more the interval is bent, the more the likelihood is that of the interval as it is shown.
    bend = (error / straight - 1) / (MAX_INTERVAL_STRETCH - 1)
    certainty = (1 - bend) * (mean - 0.5) * math.sqrt(total) / deviation
    certainty += bend * Z95 * elo / error
    scale = NORMALIZED_ELO / _games_factor(len(counts))
    return StrengthEstimate(
        score=sum(s * n for s, n in zip(scores, counts, strict=True)) / sum(counts),
        elo=Estimate(elo, error),
        normalized=Estimate(scale * (mean - 0.5) / deviation, Z95 * scale / math.sqrt(total)),
        los=_normal_cdf(certainty),
    )


def estimate_difference(pairs: Sequence[int], games: Sequence[int]) -> StrengthEstimate | None:
    """Return the one estimate of the difference between two players; None without a result.

    pairs: the counts of complete pairs; games: those of all games, whether in a pair or not.
    Pairs tell more, since their games share an opening: they are what counts, unless most of the
    games stand alone.
    """
    if 4 * sum(pairs) >= sum(games) > 0:
        return estimate_strength(pairs)
    return estimate_strength(games) if any(games) else None


def log_likelihood_ratio(
    counts: Sequence[int], elo0: float, elo1: float, *, normalized: bool
) -> float:
    """Return the generalised log-likelihood ratio of elo1 against elo0.

    The multinomial likelihood is maximised under each hypothesis: about the mean score
    (logistic) or about the mean score in units of its deviation (normalised).
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
    """Return Wald's bounds: accept elo0 at or below the first, elo1 at or above the second."""
    return math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)


def _games_factor(outcomes: int) -> float:
    # A pair's score deviates less than a game's by this factor, if games are independent.
    return math.sqrt((outcomes - 1) / 2)


def _scores(outcomes: int) -> list[float]:
    return [i / (outcomes - 1) for i in range(outcomes)]


def _weights(counts: Sequence[int], unseen: float) -> tuple[float, list[float]]:
    if sum(counts) == 0:
        raise ValueError("no results to judge")
    filled = [count or unseen for count in counts]
    total = sum(filled)
    return total, [count / total for count in filled]


def _moments(scores: Sequence[float], weights: Sequence[float]) -> tuple[float, float]:
    # Summed from the middle, so that even results give 1/2 exactly.
    mean = 0.5 + math.fsum(w * (s - 0.5) for s, w in zip(scores, weights, strict=True))
    variance = sum(w * (s - mean) ** 2 for s, w in zip(scores, weights, strict=True))
    return mean, math.sqrt(variance)


def _normal_cdf(x: float) -> float:
    return (1 + math.erf(x / math.sqrt(2))) / 2


def _fit_mean(scores: Sequence[float], weights: Sequence[float], mean: float) -> list[float]:
    """Return the probabilities nearest to `weights` in likelihood whose mean score is `mean`."""
    return _tilt([score - mean for score in scores], weights)


def _fit_ratio(scores: Sequence[float], weights: Sequence[float], ratio: float) -> list[float]:
    """Return the likeliest probabilities with (mean - 1/2) / deviation equal to `ratio`."""
    fit = [1 / len(scores)] * len(scores)
    for _ in range(50):
        mean, deviation = _moments(scores, fit)
        gradients = [
            score - 0.5 - ratio * deviation * (1 + ((score - mean) / deviation) ** 2) / 2
            for score in scores
        ]
        previous, fit = fit, _tilt(gradients, weights)
        if max(abs(a - b) for a, b in zip(previous, fit, strict=True)) < 1e-12:
            break
    return fit


def _tilt(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Return p_i = q_i / (1 + theta v_i), with theta such that sum p_i v_i = 0."""
    low, high = -1 / max(values), -1 / min(values)

    def slope(theta: float) -> float:
        return sum(q * v / (1 + theta * v) for q, v in zip(weights, values, strict=True))

    theta = _falling_root(slope, low, high)
    return [q / (1 + theta * v) for q, v in zip(weights, values, strict=True)]


def _falling_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function falls through 0 inside (low, high), by bisection."""
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if function(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
