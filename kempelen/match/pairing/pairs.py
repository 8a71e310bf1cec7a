"""The unit of a schedule: the pair, two games on one opening with colours swapped.

A pair's number in the schedule never changes, so that a ledger filled in any order can be resumed.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass


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
# A pair that is asked for, with its games.
PlannedPair = tuple[PairKey, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class TournamentSize:
    """How large a tournament is. games: of each pairing in each round."""

    players: int
    rounds: int
    games: int


def round_pairs(
    round_: int, pairings: Iterable[tuple[int, int]], games: int
) -> Iterator[PlannedPair]:
    """Yield the pairs of a round, the first of every pairing before the second of any."""
    pairings = list(pairings)
    for number in range(1, (games + 1) // 2 + 1):
        for first, second in pairings:
            both = (1, 2) if 2 * number <= games else (1,)
            yield PairKey(round_, number, first, second), both


def is_complete(planned: Iterable[PlannedPair], results: Results) -> bool:
    """Tell whether all these games have been played."""
    return all(game in results.get(key, {}) for key, games in planned for game in games)


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
