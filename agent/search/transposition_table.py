"""Transposition table, after R. Greenblatt et al., 'The Greenblatt chess program' (1967)."""

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
    """A table of at most `size` entries. When it is full, the older half is dropped."""

    def __init__(self, size: int | None = None) -> None:
        self._generation_size = None if size is None else max(1, size // 2)
        self._new_generation: dict[Hashable, Entry[Move]] = {}
        self._old_generation: dict[Hashable, Entry[Move]] = {}

    def __len__(self) -> int:
        return len(self._new_generation) + len(self._old_generation)

    def get(self, key: Hashable) -> Entry[Move] | None:
        return self._new_generation.get(key) or self._old_generation.get(key)

    def put(self, key: Hashable, entry: Entry[Move]) -> None:
        if len(self._new_generation) == self._generation_size:
            self._old_generation, self._new_generation = self._new_generation, {}
        self._new_generation[key] = entry

    def clear(self) -> None:
        self._new_generation.clear()
        self._old_generation.clear()

    def permille_full(self) -> int:
        """Return the fill level in permille, or 0 for a table without a size limit."""
        if self._generation_size is None:
            return 0
        return 1000 * len(self) // (2 * self._generation_size)
