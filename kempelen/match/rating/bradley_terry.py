"""Rate players by a maximum-likelihood fit of the Bradley-Terry model.

A draw counts as half a win for each side. As a prior, every player gets one virtual draw, divided
among the opponents, so that ratings stay finite. Anchors are players with known, fixed ratings.
Newton's method maximises the concave log-likelihood. Sources: Zermelo (1929), Bradley and Terry
(1952).

Draws, and openings played by both sides, make the variance of results smaller than binomial. The
estimated variance ratio corrects the confidence intervals (Wedderburn, 'Quasi-likelihood
functions', 1974). Two players are rated by match_statistics instead.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kempelen.match.rating.match_statistics import Z95, estimate_difference

# Elo per unit of log-odds (natural logarithm).
ELO_PER_LOGIT = 400 / np.log(10)
# Prior: number of virtual draws per player.
PRIOR_DRAWS = 1.0
# Prior of the variance ratio: weight, in average PairScores, of the ratio 1 (binomial variance).
VARIANCE_PRIOR_WEIGHT = 5


@dataclass(frozen=True, slots=True)
class PairScore:
    """The scores of player `first` against player `second` in one or two games.

    Each score is 0, 1/2 or 1. Players are indexes.
    """

    first: int
    second: int
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Rating:
    """The rating of a player, and half the width of its 95% confidence interval.

    `elo` is on the scale of the anchors. Without anchors, it is relative to the mean, or to the
    opponent if there are two players. `error` is 0 for an anchor. It is infinite if no chain of
    games connects the player to an anchor or, without anchors, to all other players.
    """

    name: str
    elo: float
    error: float
    points: float
    games: int
    draws: int


def rate(
    names: Sequence[str],
    meetings: Sequence[PairScore],
    anchors: Mapping[str, float] | None = None,
) -> list[Rating]:
    """Return the ratings, best first. `anchors` maps player names to known Elo ratings."""
    count = len(names)
    wins = np.zeros((count, count))
    draws = np.zeros(count, dtype=np.int64)
    for meeting in meetings:
        first, second = meeting.first, meeting.second
        wins[first, second] += sum(meeting.scores)
        wins[second, first] += len(meeting.scores) - sum(meeting.scores)
        draws[[first, second]] += meeting.scores.count(0.5)
    played = wins + wins.T
    known = {names.index(name): elo for name, elo in (anchors or {}).items() if name in names}
    if count == 2:
        elo, errors = _rate_two(meetings, known)
    else:
        elo, errors = _rate_many(wins, meetings, known)
    ratings = [
        Rating(
            name=name,
            elo=float(elo[i]),
            error=float(errors[i]),
            points=float(wins[i].sum()),
            games=int(played[i].sum()),
            draws=int(draws[i]),
        )
        for i, name in enumerate(names)
    ]
    return sorted(ratings, key=lambda rating: (-rating.elo, rating.name))


def connected_groups(count: int, met: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Divide the players 0 to `count` - 1 into groups that are connected by games.

    Return the largest group first. `met` contains pairs of players who have met.
    """
    opponents: list[list[int]] = [[] for _ in range(count)]
    for first, second in met:
        opponents[first].append(second)
        opponents[second].append(first)
    unseen = set(range(count))
    groups = []
    for player in range(count):
        if player in unseen:
            unseen.remove(player)
            group = [player]
            for member in group:
                found = unseen.intersection(opponents[member])
                unseen -= found
                group += found
            groups.append(sorted(group))
    return sorted(groups, key=len, reverse=True)


def pentanomial_and_trinomial(
    meetings: Sequence[PairScore],
) -> tuple[tuple[int, int, int, int, int], tuple[int, int, int]]:
    """Count the results of player 0, by pairs of games and by single games.

    Pairs are counted by points (0, 1/2, 1, 3/2, 2), and games as losses, draws and wins.
    """
    pairs, games = [0] * 5, [0] * 3
    for meeting in meetings:
        scores = [s if meeting.first == 0 else 1 - s for s in meeting.scores]
        for score in scores:
            games[round(2 * score)] += 1
        if len(scores) == 2:
            pairs[round(2 * sum(scores))] += 1
    return (pairs[0], pairs[1], pairs[2], pairs[3], pairs[4]), (games[0], games[1], games[2])


def _rate_two(
    meetings: Sequence[PairScore], known: Mapping[int, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    estimate = estimate_difference(*pentanomial_and_trinomial(meetings))
    value, error = (estimate.elo.value, estimate.elo.error) if estimate else (0.0, np.inf)
    if not known:
        return np.array([value, -value]), np.array([error, error])
    elo = [known.get(0, known.get(1, 0.0) + value), known.get(1, known.get(0, 0.0) - value)]
    return np.array(elo), np.array([0.0 if player in known else error for player in (0, 1)])


def _rate_many(
    wins: NDArray[np.float64], meetings: Sequence[PairScore], known: Mapping[int, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    met = wins + wins.T > 0
    share = PRIOR_DRAWS / np.maximum(met.sum(axis=1), 1)
    prior = met * (share[:, None] + share[None, :]) / 2
    logits, variance = _fit(
        wins + prior / 2,
        connected_groups(len(met), zip(*map(np.ndarray.tolist, met.nonzero()), strict=True)),
        {player: elo / ELO_PER_LOGIT for player, elo in known.items()},
    )
    spread = _spread(meetings, logits, len(wins))
    return ELO_PER_LOGIT * logits, ELO_PER_LOGIT * Z95 * np.sqrt(variance * spread)


def _spread(meetings: Sequence[PairScore], logits: NDArray[np.float64], players: int) -> float:
    if not meetings:
        return 1.0
    games = np.array([len(meeting.scores) for meeting in meetings])
    scored = np.array([sum(meeting.scores) for meeting in meetings])
    first = [meeting.first for meeting in meetings]
    second = [meeting.second for meeting in meetings]
    expected = 1 / (1 + np.exp(logits[second] - logits[first]))
    binomial = games * expected * (1 - expected)
    residual = float(((scored - games * expected) ** 2).sum())
    # The fitted ratings use up degrees of freedom.
    expected_residual = max(0.0, 1 - (players - 1) / len(meetings)) * float(binomial.sum())
    prior = VARIANCE_PRIOR_WEIGHT * float(binomial.mean())
    return (residual + prior) / (expected_residual + prior)


def _fit(
    wins: NDArray[np.float64], groups: list[list[int]], known: Mapping[int, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the players' log-odds and variances. Games connect all players in a group.

    In a group without an anchor, the mean of the log-odds is 0.
    """
    logits = np.zeros(len(wins))
    variance = np.full(len(wins), np.inf)
    for group in groups:
        anchors = {i: known[player] for i, player in enumerate(group) if player in known}
        if len(group) > 1:
            block = np.ix_(group, group)
            logits[group], variance[group] = _fit_connected(wins[block], anchors)
            if known and not anchors:
                variance[group] = np.inf
        elif anchors:
            logits[group], variance[group] = anchors[0], 0.0
    return logits, variance


def _fit_connected(
    wins: NDArray[np.float64], known: Mapping[int, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    played = wins + wins.T
    points = wins.sum(axis=1)
    logits = np.full(len(wins), np.mean(list(known.values())) if known else 0.0)
    logits[list(known)] = list(known.values())
    free = [i for i in range(len(wins)) if i not in known]
    variance = np.zeros(len(wins))
    if not free:
        return logits, variance
    for _ in range(100):
        expected = 1 / (1 + np.exp(logits[None, :] - logits[:, None]))
        gradient = points - (played * expected).sum(axis=1)
        step = _inverse(played, expected, free) @ gradient[free]
        # Limit the step: far from the maximum, Newton's method can overshoot.
        logits[free] += step * min(1.0, 2.0 / max(1e-12, float(np.abs(step).max())))
        if not known:
            logits -= logits.mean()
        if np.abs(step).max() < 1e-10:
            break
    expected = 1 / (1 + np.exp(logits[None, :] - logits[:, None]))
    variance[free] = np.diag(_inverse(played, expected, free))
    return logits, variance


def _inverse(
    played: NDArray[np.float64], expected: NDArray[np.float64], free: list[int]
) -> NDArray[np.float64]:
    return np.asarray(np.linalg.pinv(_information(played, expected)[np.ix_(free, free)]))


def _information(played: NDArray[np.float64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
    weight = played * expected * (1 - expected)
    np.fill_diagonal(weight, 0)
    return np.asarray(np.diag(weight.sum(axis=1)) - weight)
