"""Estimate which stones of a Go position are dead, using random playouts and local searches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Literal

from agent.games.contests import settle_contests
from agent.games.go import Go, without_stones
from agent.games.stones import BLACK, EMPTY, WHITE, iter_bits

PLAYOUTS = 200
# A chain is dead if it survives in a smaller fraction of the playouts. A chain next to neutral
# points that survives may be in seki.
ALIVE_THRESHOLD = 0.4

Status = Literal["alive", "dead", "seki"]
# The status of every chain, keyed by the chain's vertices, and a function that estimates it.
Statuses = Mapping[tuple[int, ...], Status]
StatusEstimator = Callable[[Go], Statuses]
# Polled by long computations. Returns whether to continue, and may block while computations are
# paused.
ShouldContinue = Callable[[], bool]


def chain_statuses(
    game: Go, playouts: int = PLAYOUTS, seed: int = 1
) -> dict[tuple[int, ...], Status]:
    """Estimate the status of every chain by random playouts, keyed by the chain's vertices.

    Contests of chains without two eyes are searched.
    """
    stones = game.stones
    held = [0] * len(stones.board)
    for areas in _final_areas(game, playouts, seed):
        for colour, area in zip((BLACK, WHITE), areas, strict=True):
            for vertex in iter_bits(area & stones.sets[colour]):
                held[vertex] += 1
    for head, lives in settle_contests(game).items():
        for vertex in stones.chains[head]:
            held[vertex] = playouts * lives
    return classify_chains(game, [count / playouts for count in held])


def classify_chains(game: Go, held: Sequence[float]) -> dict[tuple[int, ...], Status]:
    """Classify every chain as alive, dead or in seki, keyed by the chain's vertices.

    `held[vertex]` is the fraction of playouts that end with the vertex in the area of its original
    colour. A chain is alive if the mean of its vertices is at least ALIVE_THRESHOLD.
    """
    stones = game.stones
    statuses: dict[tuple[int, ...], Status] = {}
    for head in sorted({stones.head[vertex] for vertex in _stones(game)}):
        chain = tuple(sorted(stones.chains[head]))
        share = sum(held[vertex] for vertex in chain) / len(chain)
        statuses[chain] = "alive" if share >= ALIVE_THRESHOLD else "dead"
    for chain in _in_seki(game, statuses):
        statuses[chain] = "seki"
    return statuses


def ownership(game: Go, playouts: int = PLAYOUTS, seed: int = 1) -> tuple[float, ...]:
    """Return the expected owner of each point, -1 (White) to 1 (Black), in rows from the top."""
    held = [0] * len(game.stones.board)
    for black, white in _final_areas(game, playouts, seed):
        for vertex in iter_bits(black):
            held[vertex] += 1
        for vertex in iter_bits(white):
            held[vertex] -= 1
    at = game.stones.shape.vertex
    return tuple(
        held[at(column, row)] / playouts
        for row in reversed(range(game.height))
        for column in range(game.width)
    )


def dead_stones(game: Go) -> int:
    """Return the dead stones as a bitboard, estimated by random playouts."""
    return dead_from_statuses(chain_statuses(game))


def dead_from_statuses(statuses: Statuses) -> int:
    """Return the stones of all dead chains as a bitboard."""
    return stones_with_status("dead", statuses)


def stones_with_status(status: Status, statuses: Statuses) -> int:
    """Return the stones of all chains with this status as a bitboard."""
    return _union(chain for chain, chain_status in statuses.items() if chain_status == status)


def _final_areas(game: Go, playouts: int, seed: int) -> Iterator[tuple[int, int]]:
    random = Random(seed)
    for index in range(playouts):
        end = game.stones.copy()
        end.play_out(BLACK if index % 2 else WHITE, 0, random)
        yield end.areas()


def _stones(game: Go) -> list[int]:
    return list(iter_bits(game.stones.shape.on_board & ~game.stones.sets[EMPTY]))


def _in_seki(game: Go, statuses: dict[tuple[int, ...], Status]) -> list[tuple[int, ...]]:
    """Return the living chains that are in seki.

    Such a chain shares two to four liberties with living enemy chains, and has no others. With an
    additional eye, one shared liberty suffices, but all chains around the liberties must be in seki
    too.
    """
    dead = stones_with_status("dead", statuses)
    rest = without_stones(game.stones, dead)
    black, white = rest.areas()
    neutral = rest.sets[EMPTY] & ~(black | white)
    if not neutral:
        return []
    around = rest.shape.adjacent
    seki: list[tuple[int, ...]] = []
    one_eyed: dict[tuple[int, ...], int] = {}
    for chain, status in statuses.items():
        if status != "alive":
            continue
        liberties = rest.liberties[rest.head[chain[0]]]
        shared, eyes = liberties & neutral, liberties & ~neutral
        enemy = rest.sets[3 - rest.board[chain[0]]]
        if shared.bit_count() > 4 or not all(around(1 << at) & enemy for at in iter_bits(shared)):
            continue
        if not eyes and shared.bit_count() >= 2:
            seki.append(chain)
        elif shared and eyes.bit_count() == 1 and not around(eyes) & rest.sets[EMPTY]:
            one_eyed[chain] = liberties
    settled = False
    while not settled:
        eyes = 0
        for liberties in one_eyed.values():
            eyes |= liberties & ~neutral
        # A chain whose only liberties are eyes of one-eyed chains belongs to these chains.
        joined = [chain for chain in statuses if not rest.liberties[rest.head[chain[0]]] & ~eyes]
        others = ~(rest.sets[EMPTY] | _union(seki) | _union(one_eyed) | _union(joined))
        remaining = {
            chain: liberties
            for chain, liberties in one_eyed.items()
            if not around(liberties) & others
        }
        settled = len(remaining) == len(one_eyed)
        one_eyed = remaining
    return [*seki, *one_eyed]


def _union(chains: Iterable[tuple[int, ...]]) -> int:
    total = 0
    for chain in chains:
        for vertex in chain:
            total |= 1 << vertex
    return total
