"""Ratings of players from their games: Bradley-Terry by maximum likelihood.

A draw counts as half a win for each side. Players whose rating is known, the anchors, keep it, and
the others are rated on their scale. Every player is given a draw beforehand, shared among the
opponents that it met, so that ratings stay finite when one side won everything. Zermelo (1929),
Bradley and Terry (1952); the iteration is Newton's on the concave log-likelihood.

Draws, and openings that are played from both sides, make results vary less than wins and losses by
a coin would. How much less is estimated from all meetings together, and the intervals are as much
narrower (Wedderburn, 'Quasi-likelihood functions', 1974).

Two players alone have the difference that `kempelen.match.rating.match_statistics` finds, and its interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kempelen.match.rating.match_statistics import Z95, estimate_difference

# Elo per unit of natural log-odds.
ELO_PER_LOGIT = 400 / np.log(10)
# The draws that each player is given beforehand.
PRIOR_DRAWS = 1.0
# So many average meetings are taken to have varied like a coin, beside those that were played.
VARIANCE_PRIOR_WEIGHT = 5


@dataclass(frozen=True, slots=True)
class PairScore:
    """What the first player scored against the second: in a pair of games, or in a single one.

    first, second: indexes of players. scores: 0, 1/2 or 1 in each game.
    """

    first: int
    second: int
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Rating:
    """One player's rating with half of its 95% interval.

    It is on the scale of the anchors; where there are none, of two players against the other, and
    of more about their mean. error is infinite for a player whose games do not connect it with the
    others, or, where there are anchors, with one of them; it is 0 for the anchors themselves.
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
    """Return the players' ratings, best first. anchors: the Elo of players that keep it."""
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


def pentanomial_and_trinomial(
    meetings: Sequence[PairScore],
) -> tuple[tuple[int, int, int, int, int], tuple[int, int, int]]:
    """Return counts of pairs, and of all games, from the side of the player of index 0.

    Pairs by its points: 0, 1/2, 1, 3/2, 2; games: losses, draws, wins.
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
    """Return two players' Elo and errors."""
    found = estimate_difference(*pentanomial_and_trinomial(meetings))
    value, error = (found.elo.value, found.elo.error) if found else (0.0, np.inf)
    if not known:
        return np.array([value, -value]), np.array([error, error])
    elo = [known.get(0, known.get(1, 0.0) + value), known.get(1, known.get(0, 0.0) - value)]
    return np.array(elo), np.array([0.0 if player in known else error for player in (0, 1)])


def _rate_many(
    wins: NDArray[np.float64], meetings: Sequence[PairScore], known: Mapping[int, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return any number of players' Elo and errors."""
    met = wins + wins.T > 0
    share = PRIOR_DRAWS / np.maximum(met.sum(axis=1), 1)
    given = met * (share[:, None] + share[None, :]) / 2
    logits, variance = _fit(
        wins + given / 2,
        _groups(met),
        {player: elo / ELO_PER_LOGIT for player, elo in known.items()},
    )
    spread = _spread(meetings, logits, len(wins))
    return ELO_PER_LOGIT * logits, ELO_PER_LOGIT * Z95 * np.sqrt(variance * spread)


def _spread(meetings: Sequence[PairScore], logits: NDArray[np.float64], players: int) -> float:
    """Return the variance of what was scored in a meeting, in units of what a coin would have."""
    if not meetings:
        return 1.0
    games = np.array([len(meeting.scores) for meeting in meetings])
    scored = np.array([sum(meeting.scores) for meeting in meetings])
    first = [meeting.first for meeting in meetings]
    second = [meeting.second for meeting in meetings]
    expected = 1 / (1 + np.exp(logits[second] - logits[first]))
    coin = games * expected * (1 - expected)
    found = float(((scored - games * expected) ** 2).sum())
    # Ratings that are fitted to results take up some of their variance.
    left = max(0.0, 1 - (players - 1) / len(meetings)) * float(coin.sum())
    coins = VARIANCE_PRIOR_WEIGHT * float(coin.mean())
    return (found + coins) / (left + coins)


def _fit(
    wins: NDArray[np.float64], groups: list[list[int]], known: Mapping[int, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the log-odds of each group of connected players, and their variances.

    A group without a player whose log-odds are known is centred.
    """
    logits = np.zeros(len(wins))
    variance = np.full(len(wins), np.inf)
    for group in groups:
        here = {place: known[player] for place, player in enumerate(group) if player in known}
        if len(group) > 1:
            part = np.ix_(group, group)
            logits[group], variance[group] = _fit_connected(wins[part], here)
            if known and not here:
                variance[group] = np.inf
        elif here:
            logits[group], variance[group] = here[0], 0.0
    return logits, variance


def _fit_connected(
    wins: NDArray[np.float64], known: Mapping[int, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    played = wins + wins.T
    points = wins.sum(axis=1)
    logits = np.full(len(wins), np.mean(list(known.values())) if known else 0.0)
    logits[list(known)] = list(known.values())
    free = [place for place in range(len(wins)) if place not in known]
    variance = np.zeros(len(wins))
    if not free:
        return logits, variance
    for _ in range(100):
        expected = 1 / (1 + np.exp(logits[None, :] - logits[:, None]))
        gradient = points - (played * expected).sum(axis=1)
        step = _inverse(played, expected, free) @ gradient[free]
        # Newton's step may overshoot from far away; a bounded one cannot.
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
    """Return the covariance of the free players' log-odds."""
    return np.asarray(np.linalg.pinv(_information(played, expected)[np.ix_(free, free)]))


def _information(played: NDArray[np.float64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
    weight = played * expected * (1 - expected)
    np.fill_diagonal(weight, 0)
    return np.asarray(np.diag(weight.sum(axis=1)) - weight)


def _groups(met: NDArray[np.bool_]) -> list[list[int]]:
    """Return the sets of players that are connected by games."""
    unseen = set(range(len(met)))
    groups = []
    while unseen:
        reached = [unseen.pop()]
        for player in reached:
            neighbours = [other for other in unseen if met[player, other]]
            unseen -= set(neighbours)
            reached.extend(neighbours)
        groups.append(sorted(reached))
    return groups
