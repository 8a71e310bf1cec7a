"""The transposition table of compiled searches.

An entry has 16 bytes, a data word and the position's key XOR the data word. If two threads each
write one word of an entry, the entry matches no key (Hyatt, 'A lock-less transposition table',
2002). A cluster of four entries fills one cache line.

The fields of the data word, from the lowest bit, are move (16 bits), score (16), evaluation (16),
depth (7), a flag for positions in a principal variation (1), bound (2), and generation (6).
"""

from typing import Protocol

from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import U64, Bits, int64, load, multiply_high, prefetch, store
from agent.kernel.scores import MATE_BOUND

ENTRY_BYTES = 16
CLUSTER_BYTES = 4 * ENTRY_BYTES
UPPER, LOWER, EXACT = 1, 2, 3  # bounds: the value is at most, at least, or exactly the score
GENERATIONS = 64

_CLUSTER_WORDS = 8
_16_BITS = U64(0xFFFF)
_MAX_DEPTH = 127
# An entry of the same position is kept if the new one is shallower by more plies than this.
_REPLACEABLE_PLIES = 3
_AGE_PLIES = 4  # plies subtracted from the depth of an entry for each generation of age


class HasTable(Protocol):
    """The protocol for a worker record with a transposition table."""

    table: Bits  # address of the clusters
    table_clusters: Bits
    generation: int


@kernel
def signed_16(bits: Bits) -> int:
    value = int64(bits & _16_BITS)
    return value - 65536 if value > 32767 else value


@kernel
def _cluster(worker: HasTable, key: Bits) -> Bits:
    return multiply_high(key, worker.table_clusters) * U64(_CLUSTER_WORDS)


@kernel
def prefetch_entries(worker: HasTable, key: Bits) -> None:
    """Prefetch the table entries for the position with key `key` into the CPU cache."""
    prefetch(worker.table, _cluster(worker, key))


@kernel
def probe(worker: HasTable, key: Bits) -> Bits:
    """Return the data word of the position's entry, or 0 if the position has no entry."""
    word = _cluster(worker, key)
    for _ in range(4):
        data = load(worker.table, word)
        if data and load(worker.table, word + U64(1)) ^ data == key:
            return data
        word += U64(2)
    return U64(0)


@kernel
def data_move(data: Bits) -> int:
    """Return the best move in an entry, or NO_MOVE if it is unknown."""
    return int64(data & _16_BITS)


@kernel
def data_score(data: Bits, ply: int) -> int:
    """Return the score in an entry for a position at `ply`, with mate distances from the root."""
    score = signed_16(data >> U64(16))
    if score >= MATE_BOUND:
        return score - ply
    if score <= -MATE_BOUND:
        return score + ply
    return score


@kernel
def data_evaluation(data: Bits) -> int:
    """Return the static evaluation in an entry, or NO_EVALUATION for a position in check."""
    return signed_16(data >> U64(32))


@kernel
def data_depth(data: Bits) -> int:
    return int64(data >> U64(48) & U64(_MAX_DEPTH))


@kernel
def data_was_pv(data: Bits) -> bool:
    """Return whether the position of an entry was ever in a principal variation."""
    return data >> U64(55) & U64(1) != 0


@kernel
def data_bound(data: Bits) -> int:
    """Return the type of bound in an entry: UPPER, LOWER or EXACT."""
    return int64(data >> U64(56) & U64(3))


@kernel
def causes_cutoff(data: Bits, ply: int, beta: int) -> bool:
    """Return whether an entry's bound allows a cutoff at `beta`. Callers must check its depth."""
    bound = data_bound(data)
    return bound == EXACT or bound == (LOWER if data_score(data, ply) >= beta else UPPER)


@kernel
def _data_generation(data: Bits) -> int:
    return int64(data >> U64(58))


@kernel
def save(
    worker: HasTable,
    key: Bits,
    ply: int,
    depth: int,
    move: int,
    score: int,
    evaluation: int,
    bound: int,
    was_pv: bool,
) -> None:
    """Write an entry. It replaces the position's entry, or else an old and shallow entry.

    A much deeper entry of the position from the same search is kept, unless the new score is exact.
    """
    if score >= MATE_BOUND:
        score += ply
    elif score <= -MATE_BOUND:
        score -= ply
    depth = min(max(depth, 0), _MAX_DEPTH)
    word = _cluster(worker, key)
    victim = word
    min_value = 1 << 20
    for _ in range(4):
        old = load(worker.table, word)
        age = (worker.generation - _data_generation(old)) & (GENERATIONS - 1)
        if load(worker.table, word + U64(1)) ^ old == key and old:
            if bound != EXACT and age == 0 and depth + _REPLACEABLE_PLIES < data_depth(old):
                return
            if not move:
                move = data_move(old)
            victim = word
            break
        value = data_depth(old) - _AGE_PLIES * age if old else -(1 << 20)
        if value < min_value:
            min_value = value
            victim = word
        word += U64(2)
    data = (
        U64(move)
        | (U64(score) & _16_BITS) << U64(16)
        | (U64(evaluation) & _16_BITS) << U64(32)
        | U64(depth) << U64(48)
        | U64(bound) << U64(56)
        | U64(was_pv) << U64(55)
        | U64(worker.generation) << U64(58)
    )
    store(worker.table, victim, data)
    store(worker.table, victim + U64(1), key ^ data)
