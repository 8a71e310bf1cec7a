"""Ladders in Go: chains that one atari after another captures, wherever they run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from agent.games.stones import EMPTY, Stones, iter_bits

# So many moves are read out for one chain; what needs more is no ladder.
MAX_MOVES = 2000

# Lost: even if its owner moves first. Threatened: if the other does.
LadderStatus = Literal["free", "threatened", "lost"]


def ladders(stones: Stones) -> dict[tuple[int, ...], LadderStatus]:
    """Return the chains with one liberty or two, as their vertices, with their prospects."""
    found: dict[tuple[int, ...], LadderStatus] = {}
    occupied = stones.shape.on_board & ~stones.sets[EMPTY]
    for head in sorted({stones.head[vertex] for vertex in iter_bits(occupied)}):
        if stones.liberties[head].bit_count() < 3:
            found[tuple(sorted(stones.chains[head]))] = ladder_status(stones, head)
    return found


def ladder_status(stones: Stones, vertex: int) -> LadderStatus:
    """Return what becomes of the chain of a vertex in a ladder."""
    reader = _LadderReader()
    if not reader.can_be_captured(stones, vertex):
        return "free"
    if stones.liberties[stones.head[vertex]].bit_count() > 1:
        return "threatened"
    return "threatened" if _LadderReader().can_escape(stones, vertex) else "lost"


class _LadderReader:
    """Reads one ladder out, within MOST_MOVES; beyond them the chain is taken to escape."""

    def __init__(self) -> None:
        self._remaining_moves = MAX_MOVES

    def can_be_captured(self, stones: Stones, vertex: int) -> bool:
        """Tell whether the other captures a chain if he moves first."""
        free = stones.liberties[stones.head[vertex]]
        number = free.bit_count()
        if number > 2:
            return False
        attacker = 3 - stones.board[vertex]
        after = self._positions_after(stones, iter_bits(free), attacker)
        if number == 1:
            return any(True for _ in after)
        return any(not self.can_escape(next_stones, vertex) for next_stones in after)

    def can_escape(self, stones: Stones, vertex: int) -> bool:
        """Tell whether a chain in atari gets away if its owner moves first."""
        own = stones.board[vertex]
        for after in self._positions_after(stones, self._saving_moves(stones, vertex), own):
            if not self.can_be_captured(after, vertex):
                return True
        return self._remaining_moves <= 0

    def _saving_moves(self, stones: Stones, vertex: int) -> Iterator[int]:
        """Generate what saves a chain in atari, if anything does: captures, then its liberty."""
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
        """Generate the positions after each move that is allowed, but for superko."""
        for vertex in vertices:
            if self._remaining_moves <= 0:
                return
            if vertex == stones.ko or stones.is_suicide(vertex, colour):
                continue
            self._remaining_moves -= 1
            after = stones.copy()
            after.put(vertex, colour)
            yield after
