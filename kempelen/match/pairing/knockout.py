"""Pair and rank the players of a knockout tournament.

A tied match is continued with one pair of games at a time. Players are ranked by the number of
rounds they survived, then by Elo.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kempelen.match.pairing.pairs import (
    PairKey,
    PlannedPair,
    Results,
    TournamentSize,
    is_complete,
    round_pairs,
)

# Maximum number of tie-break pairs; after these the higher seed advances.
MAX_TIE_BREAKS = 10


@dataclass(frozen=True, slots=True)
class KnockoutMatch:
    """A match between two players, given as indexes. `second` is None for a bye.

    `first` is the higher seed and wins if the match remains tied. `winner` is None until the match
    is decided.
    """

    first: int
    second: int | None
    points: tuple[float, float] = (0.0, 0.0)
    winner: int | None = None


def plan_pairs(tournament_size: TournamentSize, results: Results) -> Iterator[PlannedPair]:
    """Yield the pairs of games that can be scheduled with the results so far."""
    for number, ties in enumerate(bracket_rounds(tournament_size, results), start=1):
        for tie in ties:
            if tie.second is not None:
                yield from _match(tournament_size, results, number, tie.first, tie.second)


def bracket_rounds(tournament_size: TournamentSize, results: Results) -> list[list[KnockoutMatch]]:
    """Return the matches for each round that has been paired, in bracket order."""
    alive = _bracket(tournament_size.players)
    rounds: list[list[KnockoutMatch]] = []
    while len(alive) > 1:
        number = len(rounds) + 1
        ties = [
            _tie(tournament_size, results, number, pairing)
            for pairing in zip(alive[::2], alive[1::2], strict=True)
        ]
        rounds.append(ties)
        alive = [tie.winner for tie in ties]
        if None in alive:
            break
    return rounds


def rank_players(
    tournament_size: TournamentSize, results: Results, by_elo: Sequence[int]
) -> list[int]:
    """Return the player indexes, best first. `by_elo` contains the indexes by descending Elo."""
    survived = [0] * tournament_size.players
    for ties in bracket_rounds(tournament_size, results):
        for tie in ties:
            if tie.winner is not None:
                survived[tie.winner] += 1
    return sorted(by_elo, key=lambda player: -survived[player])


def _tie(
    tournament_size: TournamentSize,
    results: Results,
    round_: int,
    pairing: tuple[int | None, int | None],
) -> KnockoutMatch:
    first, *rest = sorted(player for player in pairing if player is not None)
    if not rest:
        return KnockoutMatch(first, None, winner=first)
    second = rest[0]
    scores = [
        score
        for key, games in results.items()
        if (key.round, key.first, key.second) == (round_, first, second)
        for score in games.values()
        if score is not None
    ]
    points = sum(scores), len(scores) - sum(scores)
    winner = None
    if is_complete(_match(tournament_size, results, round_, first, second), results):
        winner = first if points[0] >= points[1] else second
    return KnockoutMatch(first, second, points, winner)


def _bracket(players: int) -> list[int | None]:
    """Return the seeds in bracket order. None is a bye for the neighbouring seed."""
    size = 2 ** math.ceil(math.log2(players))
    order = [0]
    while len(order) < size:
        order = [seed for s in order for seed in (s, 2 * len(order) - 1 - s)]
    return [seed if seed < players else None for seed in order]


def _match(
    tournament_size: TournamentSize, results: Results, round_: int, first: int, second: int
) -> Iterator[PlannedPair]:
    pairs = list(round_pairs(round_, [(first, second)], tournament_size.games))
    yield from pairs
    for number in range(len(pairs) + 1, len(pairs) + MAX_TIE_BREAKS + 1):
        if not is_complete(pairs, results) or _lead(results, round_, first, second) != 0:
            return
        pairs = [(PairKey(round_, number, first, second), (1, 2))]
        yield from pairs


def _lead(results: Results, round_: int, first: int, second: int) -> float:
    return sum(
        2 * score - 1
        for key, games in results.items()
        if (key.round, key.first, key.second) == (round_, first, second)
        for score in games.values()
        if score is not None
    )
