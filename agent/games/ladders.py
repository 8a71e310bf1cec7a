"""Ladder reading in Go: whether a sequence of ataris captures a chain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from agent.games.stones import EMPTY, Stones, iter_bits

# Maximum number of moves read for one chain. At the limit the chain counts as escaping.
MAX_MOVES = 2000

# "lost": captured even if the owner moves first. "threatened": captured if the opponent moves
# first.
LadderStatus = Literal["free", "threatened", "lost"]


def ladders(stones: Stones) -> dict[tuple[int, ...], LadderStatus]:
    """Return the ladder status of each chain with one or two liberties, keyed by its vertices."""
    found: dict[tuple[int, ...], LadderStatus] = {}
    occupied = stones.shape.on_board & ~stones.sets[EMPTY]
    for head in sorted({stones.head[vertex] for vertex in iter_bits(occupied)}):
        if stones.liberties[head].bit_count() < 3:
            found[tuple(sorted(stones.chains[head]))] = ladder_status(stones, head)
    return found


def ladder_status(stones: Stones, vertex: int) -> LadderStatus:
    """Return whether the chain at a vertex is "free", "threatened" or "lost" in a ladder.

    A threatened chain is captured if the opponent moves first, and a lost chain in any case.
    """
    reader = _LadderReader()
    if not reader.can_be_captured(stones, vertex):
        return "free"
    if stones.liberties[stones.head[vertex]].bit_count() > 1:
        return "threatened"
    return "threatened" if _LadderReader().can_escape(stones, vertex) else "lost"


class _LadderReader:
    """Reads one ladder up to MAX_MOVES moves. A longer ladder counts as an escape."""

    def __init__(self) -> None:
        self._remaining_moves = MAX_MOVES

    def can_be_captured(self, stones: Stones, vertex: int) -> bool:
        """Return whether the opponent can capture the chain if the opponent moves first."""
        free = stones.liberties[stones.head[vertex]]
        liberty_count = free.bit_count()
        if liberty_count > 2:
            return False
        attacker = 3 - stones.board[vertex]
        after = self._positions_after(stones, iter_bits(free), attacker)
        if liberty_count == 1:
            return any(True for _ in after)
        return any(not self.can_escape(next_stones, vertex) for next_stones in after)

    def can_escape(self, stones: Stones, vertex: int) -> bool:
        """Return whether a chain in atari can escape if its owner moves first."""
        own = stones.board[vertex]
        for after in self._positions_after(stones, self._saving_moves(stones, vertex), own):
            if not self.can_be_captured(after, vertex):
                return True
        return self._remaining_moves <= 0

    def _saving_moves(self, stones: Stones, vertex: int) -> Iterator[int]:
        """Generate the moves that may save a chain in atari: captures, then the extension."""
        other = 3 - stones.board[vertex]
        head = stones.head[vertex]
        own = sum(1 << stone for stone in stones.chains[head])
        captures = 0
        for beside in iter_bits(stones.shape.adjacent(own) & stones.sets[other]):
            free = stones.liberties[stones.head[beside]]
            if not free & free - 1:
                captures |= free
        yield from iter_bits(captures)
        yield from iter_bits(stones.liberties[head] & ~captures)

    def _positions_after(
        self, stones: Stones, vertices: Iterable[int], colour: int
    ) -> Iterator[Stones]:
        """Generate the position after each legal move in `vertices`, ignoring superko."""
        for vertex in vertices:
            if self._remaining_moves <= 0:
                return
            if vertex == stones.ko or stones.is_suicide(vertex, colour):
                continue
            self._remaining_moves -= 1
            after = stones.copy()
            after.put(vertex, colour)
            yield after
