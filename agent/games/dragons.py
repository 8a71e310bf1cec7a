"""Dragons in Go: chains of one colour that the opponent cannot disconnect with one move."""

from __future__ import annotations

from itertools import combinations

from agent.games.ladders import read_ladder
from agent.games.stones import EMPTY, Stones, iter_bits


def dragons(stones: Stones) -> list[int]:
    """Return the dragons as bitboards."""
    heads = {stones.head[at] for at in iter_bits(stones.shape.on_board & ~stones.sets[EMPTY])}
    dragon_of = {head: {head} for head in heads}
    for one, other in combinations(sorted(heads), 2):
        first, second = dragon_of[one], dragon_of[other]
        if first is not second and _are_connected(stones, one, other):
            first |= second
            dragon_of.update((head, first) for head in second)
    groups = {id(group): group for group in dragon_of.values()}.values()
    return [sum(map(stones.chain_at, group)) for group in groups]


def dragon_at(stones: Stones, vertex: int) -> int:
    """Return the dragon of the stone at a vertex, as a bitboard."""
    return next(dragon for dragon in dragons(stones) if dragon >> vertex & 1)


def _are_connected(stones: Stones, one: int, other: int) -> bool:
    """Return whether two chains share two liberties, or one where a cutting stone is captured."""
    colour = stones.board[one]
    shared = stones.liberties[one] & stones.liberties[other]
    if colour != stones.board[other] or not shared:
        return False
    return bool(shared & shared - 1) or not _can_cut(stones, shared, 3 - colour)


def _can_cut(stones: Stones, vertices: int, colour: int) -> bool:
    (vertex,) = iter_bits(vertices)
    if stones.is_suicide(vertex, colour):
        return False
    after = stones.copy()
    return bool(after.put(vertex, colour)) or not read_ladder(after, vertex).code
