"""Ratings of many players from their games: Bradley-Terry by maximum likelihood.

A draw counts as half a win for each side. Every pair of players that met is given a small
share of a draw, so that ratings stay finite when one side won everything. Zermelo (1929),
Bradley and Terry (1952); the iteration is Newton's on the concave log-likelihood.
"""

from collections.abc import Sequence
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
    """One player's rating, about a mean of 0, with half of its 95% confidence interval.

    error is infinite for a player whose games do not connect it with the others.
    """

    name: str
    elo: float
    error: float
    points: float
    games: int
    draws: int


def rate(names: Sequence[str], games: Sequence[tuple[int, int, float]]) -> list[Rating]:
    """Return the players' ratings, best first, from (white, black, White's score) of games."""
    count = len(names)
    wins = np.zeros((count, count))
    draws = np.zeros(count, dtype=np.int64)
    for white, black, score in games:
        wins[white, black] += score
        wins[black, white] += 1 - score
        if score == 0.5:
            draws[[white, black]] += 1
    played = wins + wins.T
    logits, variance = _fit(wins + PRIOR / 2 * (played > 0), _groups(played))
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
    wins: NDArray[np.float64], groups: list[list[int]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return log-odds, centred in each group of connected players, and their variances."""
    logits = np.zeros(len(wins))
    variance = np.full(len(wins), np.inf)
    for group in groups:
        if len(group) > 1:
            part = np.ix_(group, group)
            logits[group], variance[group] = _fit_connected(wins[part])
    return logits, variance


def _fit_connected(
    wins: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    played = wins + wins.T
    points = wins.sum(axis=1)
    size = len(wins)
    logits = np.zeros(size)
    for _ in range(100):
        expected = 1 / (1 + np.exp(logits[None, :] - logits[:, None]))
        gradient = points - (played * expected).sum(axis=1)
        inverse = np.linalg.pinv(_information(played, expected))
        step = inverse @ gradient
        # Newton's step may overshoot from far away; a bounded one cannot.
        logits += step * min(1.0, 2.0 / max(1e-12, float(np.abs(step).max())))
        logits -= logits.mean()
        if np.abs(step).max() < 1e-10:
            break
    expected = 1 / (1 + np.exp(logits[None, :] - logits[:, None]))
    return logits, np.diag(np.linalg.pinv(_information(played, expected))).copy()


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
