"""Who plays whom, next: pure functions of the settings and the results so far.

The unit is the pair: two games on one opening, with colours swapped. A pair's number in the
schedule never changes, so that a ledger filled in any order can be resumed.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tournament.settings import Format, Settings

# A knockout match that is level goes on by single pairs, so often; then the higher seed advances.
TIE_BREAKS = 10


@dataclass(frozen=True, slots=True, order=True)
class PairKey:
    """Which pair of games: the round, the players' indexes, and its number in their match.

    Rounds and numbers count from 1. `first` has White in game 1.
    """

    round: int
    number: int
    first: int
    second: int

    def __str__(self) -> str:
        return f"{self.round}.{self.first + 1}-{self.second + 1}.{self.number}"

    @classmethod
    def from_text(cls, text: str) -> "PairKey":
        """Return the key that `str` wrote."""
        round_, players, number = text.split(".")
        first, second = players.split("-")
        return cls(int(round_), int(number), int(first) - 1, int(second) - 1)

    def white(self, game: int) -> int:
        """Return the index of the player of White in game 1 or 2."""
        return self.first if game == 1 else self.second

    def black(self, game: int) -> int:
        """Return the index of the player of Black in game 1 or 2."""
        return self.second if game == 1 else self.first


@dataclass(frozen=True, slots=True)
class Pair:
    """Games of one pair that are to be played: 1, 2, or both."""

    key: PairKey
    games: tuple[int, ...]


# For each pair, the first player's score in each game; None where a game has no result.
Results = Mapping[PairKey, Mapping[int, float | None]]


@dataclass(frozen=True, slots=True)
class Tie:
    """A match of a knockout: its players, the points so far, and who goes on, once that is known.

    second is None where the first player has a free round. A match that stays level is won by the
    higher seed, which is the first.
    """

    first: int
    second: int | None
    points: tuple[float, float] = (0.0, 0.0)
    winner: int | None = None


def due(settings: Settings, results: Results) -> list[Pair]:
    """Return what can be played now and has not been, in order; empty when all is played."""
    return [
        Pair(key, missing)
        for key, games in _planned(settings, results)
        if (missing := tuple(game for game in games if game not in results.get(key, {})))
    ]


def total_games(settings: Settings) -> int:
    """Return how many games are asked for; in a knockout, without tie-breaks."""
    players = len(settings.engines)
    matches = {
        Format.ROUND_ROBIN: players * (players - 1) // 2 * settings.rounds,
        Format.GAUNTLET: (players - 1) * settings.rounds,
        Format.SWISS: players // 2 * settings.rounds,
        Format.KNOCKOUT: players - 1,
    }
    return matches[settings.format] * settings.games


def match_points(
    results: Results, byes: Iterable[int] = (), bye_points: float = 0.0
) -> dict[int, float]:
    """Return each player's points over all games, and of its byes; absent players have none."""
    points: dict[int, float] = defaultdict(float)
    for key, games in results.items():
        for score in games.values():
            if score is not None:
                points[key.first] += score
                points[key.second] += 1 - score
    for player in byes:
        points[player] += bye_points
    return points


def swiss_byes(settings: Settings, results: Results) -> list[int]:
    """Return who had the byes of the rounds that are complete; each is worth a won match."""
    return [
        bye
        for planned, bye in _swiss_rounds(settings, results)
        if bye is not None and _complete(planned, results)
    ]


def knockout_rounds(settings: Settings, results: Results) -> list[list[Tie]]:
    """Return the matches of the rounds that are paired, in the order of the bracket."""
    alive = _bracket(len(settings.engines))
    rounds: list[list[Tie]] = []
    while len(alive) > 1:
        number = len(rounds) + 1
        ties = [
            _tie(settings, results, number, pairing)
            for pairing in zip(alive[::2], alive[1::2], strict=True)
        ]
        rounds.append(ties)
        alive = [tie.winner for tie in ties]
        if None in alive:
            break
    return rounds


def _planned(settings: Settings, results: Results) -> Iterator[tuple[PairKey, tuple[int, ...]]]:
    """Yield the pairs of all rounds that the results so far settle, with their games."""
    if settings.format is Format.SWISS:
        yield from _planned_swiss(settings, results)
    elif settings.format is Format.KNOCKOUT:
        yield from _planned_knockout(settings, results)
    else:
        players = range(len(settings.engines))
        pairings = list(itertools.combinations(players, 2))
        if settings.format is Format.GAUNTLET:
            pairings = [(0, other) for other in players[1:]]
        for round_ in range(1, settings.rounds + 1):
            yield from _round(round_, pairings, settings.games)


def _round(
    round_: int, pairings: Iterable[tuple[int, int]], games: int
) -> Iterator[tuple[PairKey, tuple[int, ...]]]:
    pairings = list(pairings)
    for number in range(1, (games + 1) // 2 + 1):
        for first, second in pairings:
            both = (1, 2) if 2 * number <= games else (1,)
            yield PairKey(round_, number, first, second), both


def _complete(planned: Iterable[tuple[PairKey, tuple[int, ...]]], results: Results) -> bool:
    return all(game in results.get(key, {}) for key, games in planned for game in games)


def _planned_swiss(
    settings: Settings, results: Results
) -> Iterator[tuple[PairKey, tuple[int, ...]]]:
    for planned, _ in _swiss_rounds(settings, results):
        yield from planned


def _swiss_rounds(
    settings: Settings, results: Results
) -> Iterator[tuple[list[tuple[PairKey, tuple[int, ...]]], int | None]]:
    """Yield the pairs of each round, and who has the bye, up to the first that is not complete."""
    count = len(settings.engines)
    met: set[frozenset[int]] = set()
    byes: list[int] = []
    for round_ in range(1, settings.rounds + 1):
        earlier = {key: games for key, games in results.items() if key.round < round_}
        points = match_points(earlier, byes, settings.games)
        standing = sorted(range(count), key=lambda player: (-points[player], player))
        bye = None
        if count % 2:
            fewest = min(byes.count(player) for player in standing)
            bye = next(p for p in reversed(standing) if byes.count(p) == fewest)
            byes.append(bye)
            standing.remove(bye)
        pairings = pair_by_score(standing, met)
        met |= {frozenset(pairing) for pairing in pairings}
        planned = list(_round(round_, pairings, settings.games))
        yield planned, bye
        if not _complete(planned, results):
            return


def pair_by_score(standing: list[int], met: set[frozenset[int]]) -> list[tuple[int, int]]:
    """Pair players with near equals that they have not met; with ones they have, if they must.

    The search for new opponents goes depth first, nearest first, and gives up after a number of
    tries that only very full tournaments need.
    """
    budget = [20_000]

    def search(left: list[int]) -> list[tuple[int, int]] | None:
        if not left:
            return []
        budget[0] -= 1
        first, *others = left
        for other in others:
            if budget[0] < 0:
                return None
            if frozenset((first, other)) not in met:
                rest = search([player for player in others if player != other])
                if rest is not None:
                    return [(first, other), *rest]
        return None

    found = search(standing)
    return found or list(zip(standing[::2], standing[1::2], strict=True))


def _planned_knockout(
    settings: Settings, results: Results
) -> Iterator[tuple[PairKey, tuple[int, ...]]]:
    for number, ties in enumerate(knockout_rounds(settings, results), start=1):
        for tie in ties:
            if tie.second is not None:
                yield from _knockout_match(settings, results, number, tie.first, tie.second)


def _tie(
    settings: Settings, results: Results, round_: int, pairing: tuple[int | None, int | None]
) -> Tie:
    """Return the state of the match of two players, or of one with a free round."""
    first, *others = sorted(player for player in pairing if player is not None)
    if not others:
        return Tie(first, None, winner=first)
    second = others[0]
    scores = [
        score
        for key, games in results.items()
        if (key.round, key.first, key.second) == (round_, first, second)
        for score in games.values()
        if score is not None
    ]
    points = sum(scores), len(scores) - sum(scores)
    winner = None
    if _complete(_knockout_match(settings, results, round_, first, second), results):
        winner = first if points[0] >= points[1] else second
    return Tie(first, second, points, winner)


def _bracket(players: int) -> list[int | None]:
    """Return the seeds in the order of the bracket, None where the opponent has a free round."""
    size = 2 ** math.ceil(math.log2(players))
    order = [0]
    while len(order) < size:
        order = [seed for s in order for seed in (s, 2 * len(order) - 1 - s)]
    return [seed if seed < players else None for seed in order]


def _knockout_match(
    settings: Settings, results: Results, round_: int, first: int, second: int
) -> Iterator[tuple[PairKey, tuple[int, ...]]]:
    planned = list(_round(round_, [(first, second)], settings.games))
    yield from planned
    for number in range(len(planned) + 1, len(planned) + TIE_BREAKS + 1):
        if not _complete(planned, results) or _lead(results, round_, first, second) != 0:
            return
        planned = [(PairKey(round_, number, first, second), (1, 2))]
        yield from planned


def _lead(results: Results, round_: int, first: int, second: int) -> float:
    """Return the first player's score minus the second's in their match of this round."""
    return sum(
        2 * score - 1
        for key, games in results.items()
        if (key.round, key.first, key.second) == (round_, first, second)
        for score in games.values()
        if score is not None
    )
