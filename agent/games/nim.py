"""Nim: the player who takes the last counter wins, or loses in misère play.

Sources: C. Bouton, 'Nim, a game with a complete mathematical theory' (1901); the lecture notes
'Juegos: minimax, método alfa-beta'.
"""

from collections.abc import Hashable, Iterator, Sequence
from functools import reduce
from operator import xor
from typing import NamedTuple

from agent.io.message import Message


class Take(NamedTuple):
    """A move that takes `counters` counters from the heap with index `heap`."""

    heap: int
    counters: int


class Nim:
    """A Nim position with its history."""

    def __init__(self, heaps: Sequence[int] = (3, 4, 5), misere: bool = False) -> None:
        if any(heap < 0 for heap in heaps):
            raise ValueError(Message("heap sizes must be at least 0 (got {})", min(heaps)))
        self.heaps = list(heaps)
        self.misere = misere
        self._played: list[Take] = []

    @property
    def turn(self) -> int:
        """The player to move."""
        return len(self._played) % 2

    def moves(self) -> Iterator[Take]:
        """Generate the legal moves: any number of counters from any heap."""
        for heap, counters in enumerate(self.heaps):
            for taken in range(1, counters + 1):
                yield Take(heap, taken)

    def play(self, move: Take) -> None:
        """Take counters from a heap."""
        self.heaps[move.heap] -= move.counters
        self._played.append(move)

    def undo(self) -> None:
        """Undo the last move."""
        move = self._played.pop()
        self.heaps[move.heap] += move.counters

    def outcome(self) -> float | None:
        """Return 1 if player 0 won, -1 if player 1 won, None if the game is not over."""
        if any(self.heaps):
            return None
        mover_wins = self.misere
        return 1 if mover_wins == (self.turn == 0) else -1

    def key(self) -> Hashable:
        """Return the player to move and the heaps."""
        return self.turn, tuple(self.heaps)

    def symmetric_key(self) -> Hashable:
        """Return a key that does not depend on the order of the heaps."""
        return self.turn, tuple(sorted(heap for heap in self.heaps if heap))

    def text(self, move: Take) -> str:
        """Return the notation of a move, such as "b2" for two counters from the second heap."""
        return f"{chr(ord('a') + move.heap)}{move.counters}"

    def __str__(self) -> str:
        return "\n".join(
            f"{chr(ord('a') + index)} {'|' * heap}".rstrip()
            for index, heap in enumerate(self.heaps)
        )


def solved(game: Nim) -> float:
    """Return the exact value for the player to move, 1 or -1, by Bouton's theorem."""
    nim_sum = reduce(xor, game.heaps, 0)
    if game.misere and max(game.heaps, default=0) <= 1:
        return 1 if nim_sum == 0 else -1
    return 1 if nim_sum else -1


def evaluate(game: Nim) -> float:
    """Return half of the exact value, so that the outcomes of finished games outrank it."""
    return solved(game) / 2


GAME = Nim
