"""Upcoming repetition: whether the side to move can bring back an earlier position in one move.

The keys of two positions that differ by one reversible move differ by that move's key. All such
keys are in one hash table (Marcel van Kervinck, 2013), so an earlier position costs one look.
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
    """Return the keys of all reversible moves and, at the same places, their squares a + 64 b.

    A key's place is its low bits, or the next free one; no key is 0, which marks a free place.
    """
    keys, squares = np.zeros(_SLOTS, np.uint64), np.zeros(_SLOTS, np.int64)
    reach = (KNIGHT_ATTACKS, BISHOP_RAYS, ROOK_RAYS, BISHOP_RAYS | ROOK_RAYS, KING_ATTACKS)
    first, second = np.triu_indices(64, 1)
    for kind, attacked in enumerate(reach, KNIGHT_KIND):
        joined = attacked[first] >> second.astype(np.uint64) & np.uint64(1) == 1
        a, b = first[joined], second[joined]
        for side in range(2):
            base = 64 * (2 * kind + 1 - side)
            moves = ZOBRIST[base + a] ^ ZOBRIST[base + b] ^ ZOBRIST[TURN_KEY]
            for key, pair in zip(moves.tolist(), (a + 64 * b).tolist(), strict=True):
                place = key & (_SLOTS - 1)
                while keys[place]:
                    place = (place + 1) % _SLOTS
                keys[place], squares[place] = key, pair
    return keys, squares


_KEYS, _SQUARES = _reversible_moves()
_move_key = external_table("kempelen_move_keys", _KEYS)
_move_squares = external_table("kempelen_move_squares", _SQUARES)


@kernel
def _move_squares_of_key(key: Bits) -> int:
    """Return the squares a + 64 b of the reversible move with this key, 0 if there is none."""
    place = key & _MASK
    while True:
        found = _move_key(int64(place))
        if found == key:
            return _move_squares(int64(place))
        if found == U64(0):
            return 0
        place = (place + U64(1)) & _MASK


@kernel
def has_upcoming_repetition(worker: Worker, ply: int) -> bool:
    """Tell whether some move repeats a position of the line between the root and here.

    Positions of the game before the root are left out: they are a draw at the third time only.
    """
    position = position_at(worker, ply)
    reach = min(position.reversible_plies, ply)
    distance = 3
    while distance <= reach:
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
