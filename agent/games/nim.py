"""Nim: take any number of counters from one heap; who takes the last wins (or, misère, loses).

Source of the theory: C. Bouton, 'Nim, a game with a complete mathematical theory' (1901). 'Juegos:
minimax, método alfa-beta' draws its winning strategy.
"""

from collections.abc import Hashable, Iterator, Sequence
from functools import reduce
from operator import xor
from typing import NamedTuple


class Take(NamedTuple):
    """Take so many counters from the heap of that number, counted from 0."""

    heap: int
    counters: int


class Nim:
    """A position of Nim and its history."""

    def __init__(self, heaps: Sequence[int] = (3, 4, 5), misere: bool = False) -> None:
        if any(heap < 0 for heap in heaps):
            raise ValueError(f"a heap of {min(heaps)} counters cannot be; use 0 or more")
        self.heaps = list(heaps)
        self.misere = misere
        self._played: list[Take] = []

    @property
    def turn(self) -> int:
        """The player to move."""
        return len(self._played) % 2

    def moves(self) -> Iterator[Take]:
        """Generate every taking from every heap."""
        for heap, counters in enumerate(self.heaps):
            for taken in range(1, counters + 1):
                yield Take(heap, taken)

    def play(self, move: Take) -> None:
        """Take counters away."""
        self.heaps[move.heap] -= move.counters
        self._played.append(move)

    def undo(self) -> None:
        """Put the last counters back."""
        move = self._played.pop()
        self.heaps[move.heap] += move.counters

    def outcome(self) -> float | None:
        """Return who has won once nothing is left: who took last, in misère play the other."""
        if any(self.heaps):
            return None
        mover_wins = self.misere
        return 1 if mover_wins == (self.turn == 0) else -1

    def key(self) -> Hashable:
        """Return the heaps and who is to move."""
        return self.turn, tuple(self.heaps)

    def symmetric_key(self) -> Hashable:
        """Return the same key for positions whose heaps differ in order only."""
        return self.turn, tuple(sorted(heap for heap in self.heaps if heap))

    def text(self, move: Take) -> str:
        """Write a move as the heap's letter and the number of counters taken."""
        return f"{chr(ord('a') + move.heap)}{move.counters}"

    def __str__(self) -> str:
        return "\n".join(
            f"{chr(ord('a') + number)} {'|' * heap}".rstrip()
            for number, heap in enumerate(self.heaps)
        )


def solved(game: Nim) -> float:
    """Return the value of a position for its mover, 1 or -1, by Bouton's theory.

    The mover loses when the heaps XOR to 0; in misère play with heaps of one counter only, when
    their number is odd.
    """
    nim_sum = reduce(xor, game.heaps, 0)
    if game.misere and max(game.heaps, default=0) <= 1:
        return 1 if nim_sum == 0 else -1
    return 1 if nim_sum else -1


def evaluate(game: Nim) -> float:
    """Return half of what the theory says, so that a game that is over counts more."""
    return solved(game) / 2


GAME = Nim
