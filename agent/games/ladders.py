"""Ladders in Go: chains that one atari after another captures, wherever they run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from agent.games.stones import EMPTY, Stones, members

# So many moves are read out for one chain; what needs more is no ladder.
MOST_MOVES = 2000

# Lost: even if its owner moves first. Threatened: if the other does.
Prospect = Literal["free", "threatened", "lost"]


def ladders(stones: Stones) -> dict[tuple[int, ...], Prospect]:
    """Return the chains with one liberty or two, as their vertices, with their prospects."""
    found: dict[tuple[int, ...], Prospect] = {}
    occupied = stones.shape.on_board & ~stones.sets[EMPTY]
    for head in sorted({stones.head[vertex] for vertex in members(occupied)}):
        if stones.liberties[head].bit_count() < 3:
            found[tuple(sorted(stones.chains[head]))] = prospect(stones, head)
    return found


def prospect(stones: Stones, vertex: int) -> Prospect:
    """Return what becomes of the chain of a vertex in a ladder."""
    reader = _Reader()
    if not reader.captured(stones, vertex):
        return "free"
    if stones.liberties[stones.head[vertex]].bit_count() > 1:
        return "threatened"
    return "threatened" if _Reader().escapes(stones, vertex) else "lost"


class _Reader:
    """Reads one ladder out, within MOST_MOVES; beyond them the chain is taken to escape."""

    def __init__(self) -> None:
        self._left = MOST_MOVES

    def captured(self, stones: Stones, vertex: int) -> bool:
        """Tell whether the other captures a chain if he moves first."""
        free = stones.liberties[stones.head[vertex]]
        number = free.bit_count()
        if number > 2:
            return False
        attacker = 3 - stones.board[vertex]
        after = self._tried(stones, members(free), attacker)
        if number == 1:
            return any(True for _ in after)
        return any(not self.escapes(next_stones, vertex) for next_stones in after)

    def escapes(self, stones: Stones, vertex: int) -> bool:
        """Tell whether a chain in atari gets away if its owner moves first."""
        own = stones.board[vertex]
        for after in self._tried(stones, self._answers(stones, vertex), own):
            if not self.captured(after, vertex):
                return True
        return self._left <= 0

    def _answers(self, stones: Stones, vertex: int) -> Iterator[int]:
        """Generate what saves a chain in atari, if anything does: captures, then its liberty."""
        other = 3 - stones.board[vertex]
        head = stones.head[vertex]
        own = sum(1 << stone for stone in stones.chains[head])
        captures = 0
        for beside in members(stones.shape.around(own) & stones.sets[other]):
            free = stones.liberties[stones.head[beside]]
            if not free & free - 1:
                captures |= free
        yield from members(captures)
        yield from members(stones.liberties[head] & ~captures)

    def _tried(self, stones: Stones, vertices: Iterable[int], colour: int) -> Iterator[Stones]:
        """Generate the positions after each move that is allowed, but for superko."""
        for vertex in vertices:
            if self._left <= 0:
                return
            if vertex == stones.ko or stones.suicide(vertex, colour):
                continue
            self._left -= 1
            after = stones.copy()
            after.put(vertex, colour)
            yield after
