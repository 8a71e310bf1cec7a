"""Chains and territory in Go that are safe even if their owner always passes.

Source: D. Benson, 'Life in the game of Go' (1976).
"""

from __future__ import annotations

from typing import NamedTuple

from agent.games.stones import Stones, iter_bits


class UnconditionalLife(NamedTuple):
    """The unconditionally living stones of one colour, and its territory, as bitboards.

    In the `territory`, the opponent cannot live. It contains empty vertices and dead stones.
    """

    stones: int
    territory: int


def unconditional_life(stones: Stones, colour: int) -> UnconditionalLife:
    """Return the stones and the territory of a colour that the opponent cannot reduce."""
    shape, own = stones.shape, stones.sets[colour]
    chains = {
        head: stones.chain_at(head) for head in {stones.head[vertex] for vertex in iter_bits(own)}
    }
    regions = list(shape.regions(shape.on_board & ~own))
    alive = set(chains)
    while True:
        enclosed = [
            region
            for region in regions
            if all(
                head in alive for head, chain in chains.items() if shape.adjacent(region) & chain
            )
        ]
        living = {
            head
            for head in alive
            if sum(_is_eye(stones, region, head, colour) for region in enclosed) >= 2
        }
        if living == alive:
            break
        alive = living
    safe = sum(chains[head] for head in alive)
    if not safe:
        return UnconditionalLife(0, 0)
    territory = sum(region for region in enclosed if not _has_room(stones, region, safe))
    return UnconditionalLife(safe, territory)


def _is_eye(stones: Stones, region: int, head: int, colour: int) -> bool:
    """Return whether all empty vertices of a region are liberties of the chain `head`."""
    empty = region & ~stones.sets[3 - colour]
    return bool(empty) and not empty & ~stones.liberties[head]


def _has_room(stones: Stones, region: int, safe: int) -> bool:
    """Return whether a region may have room for two eyes of the opponent.

    An eye needs a vertex that is not adjacent to the safe stones around the region.
    """
    inner = region & ~stones.shape.adjacent(safe)
    return any(
        inner & ~(1 << vertex | stones.shape.adjacent(1 << vertex)) for vertex in iter_bits(inner)
    )
