"""Which stones of a Go position are dead, by what becomes of them in many playouts."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Literal

from agent.games.go import Go, without
from agent.games.stones import BLACK, EMPTY, WHITE, members

PLAYOUTS = 200
# A chain that survives in less than this share of the playouts is dead; a chain that stands
# beside what neither colour owns, and does survive, may be in seki.
ALIVE = 0.4

Status = Literal["alive", "dead", "seki"]


def statuses(game: Go, playouts: int = PLAYOUTS, seed: int = 1) -> dict[tuple[int, ...], Status]:
    """Return every chain of the position, as its vertices, with its status.

    Both players begin half of the playouts. A chain lives where its vertices are its colour's in
    the end, be it as stones or as area.
    """
    stones, random = game.stones, Random(seed)
    held = [0] * len(stones.board)
    for number in range(playouts):
        end = stones.copy()
        end.play_out(BLACK if number % 2 else WHITE, 0, random)
        areas = (0, *end.areas())
        for colour in (BLACK, WHITE):
            for vertex in members(areas[colour] & stones.sets[colour]):
                held[vertex] += 1
    found: dict[tuple[int, ...], Status] = {}
    for head in sorted({stones.head[vertex] for vertex in _stones(game)}):
        chain = tuple(sorted(stones.chains[head]))
        share = sum(held[vertex] for vertex in chain) / (len(chain) * playouts)
        found[chain] = "alive" if share >= ALIVE else "dead"
    for chain in _in_seki(game, found):
        found[chain] = "seki"
    return found


def dead_stones(game: Go) -> int:
    """Return the set of the dead stones."""
    return _union(chain for chain, status in statuses(game).items() if status == "dead")


def _stones(game: Go) -> list[int]:
    return list(members(game.stones.shape.on_board & ~game.stones.sets[EMPTY]))


def _in_seki(game: Go, found: dict[tuple[int, ...], Status]) -> list[tuple[int, ...]]:
    """Return the living chains that share all their liberties, but for eyes, with living enemies.

    Such liberties are few, or the position is not finished: two at least, four at most.
    """
    dead = _union(chain for chain, status in found.items() if status == "dead")
    rest = without(game.stones, dead)
    black, white = rest.areas()
    neutral = rest.sets[EMPTY] & ~(black | white)
    if not neutral:
        return []
    seki = []
    for chain, status in found.items():
        if status != "alive":
            continue
        shared = rest.liberties[rest.head[chain[0]]]
        enemy = rest.sets[3 - rest.board[chain[0]]]
        if shared & ~neutral or not 2 <= shared.bit_count() <= 4:
            continue
        if all(rest.shape.around(1 << vertex) & enemy for vertex in members(shared)):
            seki.append(chain)
    return seki


def _union(chains: Iterable[tuple[int, ...]]) -> int:
    total = 0
    for chain in chains:
        for vertex in chain:
            total |= 1 << vertex
    return total
