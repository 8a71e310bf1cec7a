"""Grundy's game: players split a heap into two unequal heaps. A player who cannot move loses.

Sources: P. Grundy, 'Mathematics and games' (1939); the AND/OR example in the lecture notes
'Búsqueda con adversario'.
"""

from collections.abc import Hashable, Iterator
from functools import cache, reduce
from operator import xor
from typing import NamedTuple

from agent.io.message import Message


class Split(NamedTuple):
    """A move that splits a heap of `heap` counters into parts of `smaller` and `heap - smaller`."""

    heap: int
    smaller: int


class Grundy:
    """A position of Grundy's game with its history."""

    def __init__(self, counters: int = 7) -> None:
        if counters < 1:
            raise ValueError(Message("counters must be at least 1 (got {})", counters))
        self._heaps: list[tuple[int, ...]] = [(counters,)]

    @property
    def heaps(self) -> tuple[int, ...]:
        """The heaps in descending order."""
        return self._heaps[-1]

    @property
    def turn(self) -> int:
        """The player to move."""
        return (len(self._heaps) - 1) % 2

    def moves(self) -> Iterator[Split]:
        """Generate the legal splits. Heaps of equal size are considered only once."""
        for heap in sorted(set(self.heaps), reverse=True):
            for smaller in range(1, (heap - 1) // 2 + 1):
                yield Split(heap, smaller)

    def play(self, move: Split) -> None:
        """Split a heap."""
        heaps = list(self.heaps)
        heaps.remove(move.heap)
        heaps += [move.smaller, move.heap - move.smaller]
        self._heaps.append(tuple(sorted(heaps, reverse=True)))

    def undo(self) -> None:
        """Undo the last split."""
        self._heaps.pop()

    def outcome(self) -> float | None:
        """Return 1 if player 0 won, -1 if player 1 won, None if the game is not over."""
        if self.heaps[0] > 2:
            return None
        return -1 if self.turn == 0 else 1

    def key(self) -> Hashable:
        """Return the player to move and the heaps that can still be split."""
        return self.turn, tuple(heap for heap in self.heaps if heap > 2)

    def text(self, move: Split) -> str:
        """Return the notation of a split, such as "7=4+3"."""
        return f"{move.heap}={move.heap - move.smaller}+{move.smaller}"

    def __str__(self) -> str:
        return " ".join(map(str, self.heaps))


@cache
def grundy_value(counters: int) -> int:
    """Return the Sprague-Grundy value (nimber) of a heap."""
    reached = {
        grundy_value(smaller) ^ grundy_value(counters - smaller)
        for smaller in range(1, (counters - 1) // 2 + 1)
    }
    value = 0
    while value in reached:
        value += 1
    return value


def solved(game: Grundy) -> float:
    """Return the exact value for the player to move, 1 or -1, by the Sprague-Grundy theorem."""
    return 1 if reduce(xor, map(grundy_value, game.heaps)) else -1


def evaluate(game: Grundy) -> float:
    """Return half of the exact value, so that the outcomes of finished games outrank it."""
    return solved(game) / 2


GAME = Grundy
