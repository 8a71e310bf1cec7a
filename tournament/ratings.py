"""Ratings of many players from their games: Bradley-Terry by maximum likelihood.

A draw counts as half a win for each side. Players whose rating is known, the anchors, keep it, and
the others are rated on their scale. Every pair of players that met is given a small
share of a draw, so that ratings stay finite when one side won everything. Zermelo (1929),
Bradley and Terry (1952); the iteration is Newton's on the concave log-likelihood.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tournament.statistics import Z95

# Elo per unit of natural log-odds.
ELO = 400 / np.log(10)
# The share of a draw that each pairing is given beforehand.
PRIOR = 0.1


@dataclass(frozen=True, slots=True)
class Rating:
    """One player's rating, about a mean of 0 or the anchors', with half of its 95% interval.

    error is infinite for a player whose games do not connect it with the others, or, where there
    are anchors, with one of them; it is 0 for the anchors themselves.
    """

    name: str
    elo: float
    error: float
    points: float
    games: int
    draws: int


def rate(
    names: Sequence[str],
    games: Sequence[tuple[int, int, float]],
    anchors: Mapping[str, float] | None = None,
) -> list[Rating]:
    """Return the players' ratings, best first, from (white, black, White's score) of games.

    anchors: the Elo of players that keep it.
    """
    count = len(names)
    wins = np.zeros((count, count))
    draws = np.zeros(count, dtype=np.int64)
    for white, black, score in games:
        wins[white, black] += score
        wins[black, white] += 1 - score
        if score == 0.5:
            draws[[white, black]] += 1
    played = wins + wins.T
    known = {names.index(name): elo / ELO for name, elo in (anchors or {}).items() if name in names}
    logits, variance = _fit(wins + PRIOR / 2 * (played > 0), _groups(played), known)
    elo = ELO * logits
    errors = ELO * Z95 * np.sqrt(variance)
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


def _groups(played: NDArray[np.float64]) -> list[list[int]]:
    """Return the sets of players that are connected by games."""
    unseen = set(range(len(played)))
    groups = []
    while unseen:
        reached = [unseen.pop()]
        for player in reached:
            neighbours = [other for other in unseen if played[player, other] > 0]
            unseen -= set(neighbours)
            reached.extend(neighbours)
        groups.append(sorted(reached))
    return groups
