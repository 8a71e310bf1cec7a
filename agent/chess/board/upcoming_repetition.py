"""Detection of repetitions that the side to move can reach with one move.

If two positions differ by one reversible move, their keys differ by the key of that move. A hash
table of these move keys replaces move generation (Marcel van Kervinck, 2013).
"""

import numpy as np
import numpy.typing as npt

from agent.chess.board.attacks import between, has
from agent.chess.board.lookup_tables import (
    BISHOP_RAYS,
    KING_ATTACKS,
    KNIGHT_ATTACKS,
    ROOK_RAYS,
    ZOBRIST,
)
from agent.chess.board.position import TURN_KEY
from agent.chess.board.records import KNIGHT as KNIGHT_KIND
from agent.chess.board.records import Worker, position_at
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import U64, Bits, external_table, int64

_SLOTS = 1 << 13
_MASK = U64(_SLOTS - 1)


def _reversible_moves() -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Return a hash table of all reversible moves as two arrays: move keys and squares.

    A move between squares a and b is stored as `a + 64 * b`. Collisions use linear probing, and the
    key 0 marks an empty slot.
    """
    keys, squares = np.zeros(_SLOTS, np.uint64), np.zeros(_SLOTS, np.int64)
    attacks_by_kind = (
        KNIGHT_ATTACKS,
        BISHOP_RAYS,
        ROOK_RAYS,
        BISHOP_RAYS | ROOK_RAYS,
        KING_ATTACKS,
    )
    first, second = np.triu_indices(64, 1)
    for kind, attacked in enumerate(attacks_by_kind, KNIGHT_KIND):
        connected = attacked[first] >> second.astype(np.uint64) & np.uint64(1) == 1
        a, b = first[connected], second[connected]
        for side in range(2):
            base = 64 * (2 * kind + 1 - side)
            moves = ZOBRIST[base + a] ^ ZOBRIST[base + b] ^ ZOBRIST[TURN_KEY]
            for key, pair in zip(moves.tolist(), (a + 64 * b).tolist(), strict=True):
                slot = key & (_SLOTS - 1)
                while keys[slot]:
                    slot = (slot + 1) % _SLOTS
                keys[slot], squares[slot] = key, pair
    return keys, squares


_KEYS, _SQUARES = _reversible_moves()
_move_key = external_table("kempelen_move_keys", _KEYS)
_move_squares = external_table("kempelen_move_squares", _SQUARES)


@kernel
def _move_squares_of_key(key: Bits) -> int:
    """Return the squares `a + 64 * b` of the reversible move with this key, or 0."""
    slot = key & _MASK
    while True:
        slot_key = _move_key(int64(slot))
        if slot_key == key:
            return _move_squares(int64(slot))
        if slot_key == U64(0):
            return 0
        slot = (slot + U64(1)) & _MASK


@kernel
def has_upcoming_repetition(worker: Worker, ply: int) -> bool:
    """Return whether one move leads to an earlier position at or after the root.

    Positions before the root are ignored, because only a threefold repetition of them is a draw.
    """
    position = position_at(worker, ply)
    max_distance = min(position.reversible_plies, ply)
    distance = 3
    while distance <= max_distance:
        key = position.repetition_key ^ position_at(worker, ply - distance).repetition_key
        squares = _move_squares_of_key(key)
        if squares:
            a, b = squares & 63, squares >> 6
            occupied = position.sides[0] | position.sides[1]
            own = position.sides[position.turn]
            if (has(own, a) or has(own, b)) and not between(a, b) & occupied:
                return True
        distance += 2
    return False
