"""Grundy's game: split one heap into two of different size; who cannot split loses.

Source: P. Grundy, 'Mathematics and games' (1939); the AND/OR example of 'Búsqueda con
adversario'.
"""

from collections.abc import Hashable, Iterator
from functools import cache, reduce
from operator import xor
from typing import NamedTuple


class Split(NamedTuple):
    """Split a heap of so many counters so that this is the smaller part."""

    heap: int
    smaller: int


class Grundy:
    """A position of Grundy's game, heaps in falling order, and its history."""

    def __init__(self, counters: int = 7) -> None:
        if counters < 1:
            raise ValueError(f"a heap of {counters} counters cannot be; use 1 or more")
        self._heaps: list[tuple[int, ...]] = [(counters,)]

    @property
    def heaps(self) -> tuple[int, ...]:
        """The heaps, the largest first."""
        return self._heaps[-1]

    @property
    def turn(self) -> int:
        """The player to move."""
        return (len(self._heaps) - 1) % 2

    def moves(self) -> Iterator[Split]:
        """Generate the ways to split: heaps of equal size once."""
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
        """Join the last heap that was split."""
        self._heaps.pop()

    def outcome(self) -> float | None:
        """Return who has won once no heap of three or more is left: who moved last."""
        if self.heaps[0] > 2:
            return None
        return -1 if self.turn == 0 else 1

    def key(self) -> Hashable:
        """Return the heaps that can still be split, and who is to move."""
        return self.turn, tuple(heap for heap in self.heaps if heap > 2)

    def text(self, move: Split) -> str:
        """Write a move as the heap and its two parts."""
        return f"{move.heap}={move.heap - move.smaller}+{move.smaller}"

    def __str__(self) -> str:
        return " ".join(map(str, self.heaps))


@cache
def grundy_value(counters: int) -> int:
    """Return the Sprague-Grundy value of one heap: the least that none of its splits has."""
    reached = {
        grundy_value(smaller) ^ grundy_value(counters - smaller)
        for smaller in range(1, (counters - 1) // 2 + 1)
    }
    value = 0
    while value in reached:
        value += 1
    return value


def evaluate(game: Grundy) -> float:
    """Return 0.5 where the theory says that the mover wins, -0.5 where it says he loses."""
    return 0.5 if reduce(xor, map(grundy_value, game.heaps)) else -0.5


GAME = Grundy
