"""Which stones of a Go position are dead, by what becomes of them in many playouts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Literal

from agent.games.go import Go, without_stones
from agent.games.stones import BLACK, EMPTY, WHITE, iter_bits

PLAYOUTS = 200
# A chain that survives in less than this share of the playouts is dead; a chain that stands
# beside what neither colour owns, and does survive, may be in seki.
ALIVE_THRESHOLD = 0.4

Status = Literal["alive", "dead", "seki"]
# Every chain, as its vertices, with its status; and who tells them of a position.
Statuses = Mapping[tuple[int, ...], Status]
StatusEstimator = Callable[[Go], Statuses]
# Asked now and then by what takes long: may wait until it should go on, and tells whether it shall.
ShouldContinue = Callable[[], bool]


def chain_statuses(
    game: Go, playouts: int = PLAYOUTS, seed: int = 1
) -> dict[tuple[int, ...], Status]:
    """Return every chain of the position, as its vertices, with its status.

    Both players begin half of the playouts. A chain lives where its vertices are its colour's in
    the end, be it as stones or as area.
    """
    stones = game.stones
    held = [0] * len(stones.board)
    for areas in _final_areas(game, playouts, seed):
        for colour, area in zip((BLACK, WHITE), areas, strict=True):
            for vertex in iter_bits(area & stones.sets[colour]):
                held[vertex] += 1
    return classify_chains(game, [number / playouts for number in held])


def classify_chains(game: Go, held: Sequence[float]) -> dict[tuple[int, ...], Status]:
    """Return every chain, as its vertices, with its status.

    held: by vertex, in what share of the playouts it stays with the colour that has it.
    """
    stones = game.stones
    found: dict[tuple[int, ...], Status] = {}
    for head in sorted({stones.head[vertex] for vertex in _stones(game)}):
        chain = tuple(sorted(stones.chains[head]))
        share = sum(held[vertex] for vertex in chain) / len(chain)
        found[chain] = "alive" if share >= ALIVE_THRESHOLD else "dead"
    for chain in _in_seki(game, found):
        found[chain] = "seki"
    return found


def ownership(game: Go, playouts: int = PLAYOUTS, seed: int = 1) -> tuple[float, ...]:
    """Return whose each point is in the end, from -1, White's, to 1, Black's; rows from above."""
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
    """Return the set of the dead stones."""
    return dead_from_statuses(chain_statuses(game))


def dead_from_statuses(found: Statuses) -> int:
    """Return the set of the stones whose chains are dead."""
    return stones_with_status("dead", found)


def stones_with_status(status: Status, found: Statuses) -> int:
    """Return the set of the stones of that status."""
    return _union(chain for chain, its in found.items() if its == status)


def _final_areas(game: Go, playouts: int, seed: int) -> Iterator[tuple[int, int]]:
    """Generate Black's and White's area at the ends of playouts, half of which each begins."""
    random = Random(seed)
    for number in range(playouts):
        end = game.stones.copy()
        end.play_out(BLACK if number % 2 else WHITE, 0, random)
        yield end.areas()


def _stones(game: Go) -> list[int]:
    return list(iter_bits(game.stones.shape.on_board & ~game.stones.sets[EMPTY]))


def _in_seki(game: Go, found: dict[tuple[int, ...], Status]) -> list[tuple[int, ...]]:
    """Return the living chains that share all their liberties, but for an eye, with living enemies.

    Such liberties are few, or the position is not finished: two at least, four at most. A chain
    with an eye may share one; but then all chains around what it shares must be in seki too, or
    they are only not connected yet.
    """
    dead = stones_with_status("dead", found)
    rest = without_stones(game.stones, dead)
    black, white = rest.areas()
    neutral = rest.sets[EMPTY] & ~(black | white)
    if not neutral:
        return []
    around = rest.shape.adjacent
    seki: list[tuple[int, ...]] = []
    one_eyed: dict[tuple[int, ...], int] = {}
    for chain, status in found.items():
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
        # Who has no liberty but such an eye belongs to the chains around it.
        with_them = [chain for chain in found if not rest.liberties[rest.head[chain[0]]] & ~eyes]
        others = ~(rest.sets[EMPTY] | _union(seki) | _union(one_eyed) | _union(with_them))
        left = {chain: its for chain, its in one_eyed.items() if not around(its) & others}
        settled = len(left) == len(one_eyed)
        one_eyed = left
    return [*seki, *one_eyed]


def _union(chains: Iterable[tuple[int, ...]]) -> int:
    total = 0
    for chain in chains:
        for vertex in chain:
            total |= 1 << vertex
    return total
