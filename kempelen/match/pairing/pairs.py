"""Define pairs of games, which have the same opening and are played with swapped colours.

A schedule consists of pairs. Pairs keep their numbers, so games can be played in any order and a
tournament can be resumed.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class PairKey:
    """The identity of a pair: the round, the number of the pair in its match, and the players.

    Rounds and numbers start at 1. `first` and `second` are player indexes. `first` plays White in
    game 1.
    """

    round: int
    number: int
    first: int
    second: int

    def __str__(self) -> str:
        return f"{self.round}.{self.first + 1}-{self.second + 1}.{self.number}"

    @classmethod
    def from_text(cls, text: str) -> "PairKey":
        """Parse a key from the text that `str` returns."""
        round_, players, number = text.split(".")
        first, second = players.split("-")
        return cls(int(round_), int(number), int(first) - 1, int(second) - 1)

    def white(self, game: int) -> int:
        """Return the index of the player who has White in game 1 or game 2."""
        return self.first if game == 1 else self.second

    def black(self, game: int) -> int:
        """Return the index of the player who has Black in game 1 or game 2."""
        return self.second if game == 1 else self.first


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair and the numbers of its unplayed games, which are 1, 2, or both."""

    key: PairKey
    games: tuple[int, ...]


# The score of each pair's first player, by pair and game; None for a game without a result.
Results = Mapping[PairKey, Mapping[int, float | None]]
# A pair of the schedule with the numbers of its games.
PlannedPair = tuple[PairKey, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class TournamentSize:
    """The number of players, the number of rounds, and the games per pairing and round."""

    players: int
    rounds: int
    games: int


def round_pairs(
    round_: int, pairings: Iterable[tuple[int, int]], games: int
) -> Iterator[PlannedPair]:
    """Yield the pairs for a round.

    Pair 1 of every pairing comes first, then pair 2 of every pairing, and so on.
    """
    pairings = list(pairings)
    for number in range(1, (games + 1) // 2 + 1):
        for first, second in pairings:
            game_numbers = (1, 2) if 2 * number <= games else (1,)
            yield PairKey(round_, number, first, second), game_numbers


def is_complete(planned: Iterable[PlannedPair], results: Results) -> bool:
    """Return whether `results` contains all planned games."""
    return all(game in results.get(key, {}) for key, games in planned for game in games)


def match_points(
    results: Results, byes: Iterable[int] = (), bye_points: float = 0.0
) -> dict[int, float]:
    """Return the points of the players by index. Players without games or byes are omitted.

    `byes` contains a player index for each bye. `bye_points` is the number of points for a bye.
    """
    points: dict[int, float] = defaultdict(float)
    for key, games in results.items():
        for score in games.values():
            if score is not None:
                points[key.first] += score
                points[key.second] += 1 - score
    for player in byes:
        points[player] += bye_points
    return points
