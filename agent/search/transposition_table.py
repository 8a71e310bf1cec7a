"""Transposition table, which stores the results of previously searched positions.

Source: R. Greenblatt, D. Eastlake and S. Crocker, 'The Greenblatt chess program' (1967). The table
is the memory of alpha-beta in the lecture notes 'Técnicas de IA, Tema 3.2'.
"""

from collections.abc import Hashable
from typing import Generic, NamedTuple, TypeVar

Move = TypeVar("Move")


class Entry(NamedTuple, Generic[Move]):
    """Bounds on the value of a position at `depth` plies, and the best move."""

    depth: int
    lower: float
    upper: float
    move: Move | None


class TranspositionTable(Generic[Move]):
    """A table with two generations of entries. When the new one is full, the old one is dropped.

    `size` is the maximum number of entries, or None if there is no limit.
    """

    def __init__(self, size: int | None = None) -> None:
        self._generation_size = None if size is None else max(1, size // 2)
        self._new_generation: dict[Hashable, Entry[Move]] = {}
        self._old_generation: dict[Hashable, Entry[Move]] = {}

    def __len__(self) -> int:
        return len(self._new_generation) + len(self._old_generation)

    def get(self, key: Hashable) -> Entry[Move] | None:
        return self._new_generation.get(key) or self._old_generation.get(key)

    def put(self, key: Hashable, entry: Entry[Move]) -> None:
        """Store an entry, which replaces any other entry for the position."""
        if len(self._new_generation) == self._generation_size:
            self._old_generation, self._new_generation = self._new_generation, {}
        self._new_generation[key] = entry

    def clear(self) -> None:
        self._new_generation.clear()
        self._old_generation.clear()

    def permille_full(self) -> int:
        """Return how full the table is in permille, or 0 if its size is not limited."""
        if self._generation_size is None:
            return 0
        return 1000 * len(self) // (2 * self._generation_size)
