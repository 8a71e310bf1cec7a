"""Dragons in Go: chains of one colour that the opponent cannot disconnect with one move."""

from __future__ import annotations

from itertools import combinations

from agent.games.chain_status import ShouldContinue
from agent.games.ladders import always, read_ladder
from agent.games.stones import EMPTY, Stones, iter_bits


def dragons(stones: Stones, should_continue: ShouldContinue = always) -> list[int]:
    """Return the dragons as bitboards.

    After `should_continue` has returned False, chains that share only one liberty are separate.
    """
    heads = {stones.head[at] for at in iter_bits(stones.shape.on_board & ~stones.sets[EMPTY])}
    dragon_of = {head: {head} for head in heads}
    for one, other in combinations(sorted(heads), 2):
        first, second = dragon_of[one], dragon_of[other]
        if first is not second and _are_connected(stones, one, other, should_continue):
            first |= second
            dragon_of.update((head, first) for head in second)
    groups = {id(group): group for group in dragon_of.values()}.values()
    return [sum(map(stones.chain_at, group)) for group in groups]


def dragon_at(stones: Stones, vertex: int, should_continue: ShouldContinue = always) -> int:
    """Return the dragon of the stone at a vertex, as a bitboard."""
    return next(dragon for dragon in dragons(stones, should_continue) if dragon >> vertex & 1)


def _are_connected(stones: Stones, one: int, other: int, should_continue: ShouldContinue) -> bool:
    """Return whether two chains share two liberties, or one where a cutting stone is captured."""
    colour = stones.board[one]
    shared = stones.liberties[one] & stones.liberties[other]
    if colour != stones.board[other] or not shared:
        return False
    if shared & shared - 1:
        return True
    return not _can_cut(stones, shared, 3 - colour, should_continue)


def _can_cut(stones: Stones, vertices: int, colour: int, should_continue: ShouldContinue) -> bool:
    (vertex,) = iter_bits(vertices)
    if stones.is_suicide(vertex, colour):
        return False
    after = stones.copy()
    return bool(after.put(vertex, colour)) or not read_ladder(after, vertex, should_continue).code
