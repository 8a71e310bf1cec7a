"""Pairs of games, which share an opening and are played with swapped colours.

Pairs have fixed numbers, so games can be played in any order and a tournament can be resumed.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class PairKey:
    """The identity of a pair of games: the round, its number in the match, and the players.

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
        """Parse the result of `str`, such as 1.1-2.3 for pair 3 of players 1 and 2 in round 1."""
        round_, players, number = text.split(".")
        first, second = players.split("-")
        return cls(int(round_), int(number), int(first) - 1, int(second) - 1)

    def white(self, game: int) -> int:
        """Return the player index of White in game 1 or game 2."""
        return self.first if game == 1 else self.second

    def black(self, game: int) -> int:
        """Return the player index of Black in game 1 or game 2."""
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
    """The numbers of players and rounds, and of games per pairing and round.

    If `swap` is false, the first player of a pairing is always White. If `reverse` is true, the
    second player begins with White. In a gauntlet, the first `seeds` players play all others.
    """

    players: int
    rounds: int
    games: int
    swap: bool = True
    reverse: bool = False
    seeds: int = 1


def round_pairs(
    round_: int, pairings: Iterable[tuple[int, int]], games: int, *, swap: bool = True
) -> Iterator[PlannedPair]:
    """Yield pair 1 of every pairing in a round, then pair 2 of every pairing, and so on.

    `games` is the number of games per pairing. If `swap` is false, each pair has one game.
    """
    pairings = list(pairings)
    for number in range(1, (games + 1) // 2 + 1 if swap else games + 1):
        for first, second in pairings:
            game_numbers = (1, 2) if swap and 2 * number <= games else (1,)
            yield PairKey(round_, number, first, second), game_numbers


def is_complete(planned: Iterable[PlannedPair], results: Results) -> bool:
    """Return whether `results` contains all planned games."""
    return all(game in results.get(key, {}) for key, games in planned for game in games)


def match_points(
    results: Results, byes: Iterable[int] = (), bye_points: float = 0.0
) -> dict[int, float]:
    """Return the points by player index, including `bye_points` for each player in `byes`.

    Players without games or byes are omitted.
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
