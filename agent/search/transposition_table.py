"""The transposition table: what is known of positions that were searched before.

Source: R. Greenblatt, D. Eastlake and S. Crocker, 'The Greenblatt chess program' (1967); it is the
memory of the alpha-beta in 'Técnicas de IA, Tema 3.2'.
"""

from collections.abc import Hashable
from typing import Generic, NamedTuple, TypeVar

Move = TypeVar("Move")


class Entry(NamedTuple, Generic[Move]):
    """The value of a position, searched `depth` plies deep, lies between lower and upper."""

    depth: int
    lower: float
    upper: float
    move: Move | None


class TranspositionTable(Generic[Move]):
    """Entries by key, in two generations; the elder is forgotten when the younger is full.

    size: the most entries kept; None keeps everything.
    """

    def __init__(self, size: int | None = None) -> None:
        self._generation_size = None if size is None else max(1, size // 2)
        self._new_generation: dict[Hashable, Entry[Move]] = {}
        self._old_generation: dict[Hashable, Entry[Move]] = {}

    def __len__(self) -> int:
        return len(self._new_generation) + len(self._old_generation)

    def get(self, key: Hashable) -> Entry[Move] | None:
        """Return what is known of a position, or None."""
        return self._new_generation.get(key) or self._old_generation.get(key)

    def put(self, key: Hashable, entry: Entry[Move]) -> None:
        """Remember an entry, in place of any other of its position."""
        if len(self._new_generation) == self._generation_size:
            self._old_generation, self._new_generation = self._new_generation, {}
        self._new_generation[key] = entry

    def clear(self) -> None:
        """Forget everything."""
        self._new_generation.clear()
        self._old_generation.clear()

    def permille_full(self) -> int:
        """Return how full the table is, from 0 to 1000; 0 if it has no limit."""
        if self._generation_size is None:
            return 0
        return 1000 * len(self) // (2 * self._generation_size)
