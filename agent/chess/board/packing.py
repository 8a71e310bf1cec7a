"""Conversion between `Position` and `PackedPosition` records."""

import numba

from agent.chess.board.attacks import bit, has
from agent.chess.board.packed_position import (
    BLACK_PIECE,
    BLACK_TO_MOVE,
    CASTLING_ROOK,
    PackedPosition,
    packed_dtype,
)
from agent.chess.board.position import refresh
from agent.chess.board.records import ROOK, Position
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import U64, first_square, int64

_FOUR_BITS = U64(15)

packed_type = numba.from_dtype(packed_dtype)


@kernel
def pack(packed: PackedPosition, position: Position) -> None:
    """Write a position of at most 32 pieces to `packed`, without score, result and depth."""
    occupied = position.sides[0] | position.sides[1]
    packed.occupied = occupied
    packed.pieces[0] = packed.pieces[1] = U64(0)
    i = 0
    while occupied:
        square = first_square(occupied)
        piece = position.board[square]
        if piece == ROOK and has(position.castling, square):
            piece = CASTLING_ROOK
        if has(position.sides[1], square):
            piece += BLACK_PIECE
        packed.pieces[i >> 4] |= U64(piece) << U64(4 * (i & 15))
        i += 1
        occupied &= occupied - U64(1)
    packed.state = position.en_passant + BLACK_TO_MOVE * position.turn
    packed.halfmoves = min(position.halfmoves, 255)
    packed.fullmoves = position.fullmoves


@kernel
def unpack(packed: PackedPosition, position: Position) -> None:
    for kind in range(6):
        position.kinds[kind] = U64(0)
    position.sides[0] = position.sides[1] = position.castling = U64(0)
    occupied = packed.occupied
    i = 0
    while occupied:
        square = first_square(occupied)
        piece = int64(packed.pieces[i >> 4] >> U64(4 * (i & 15)) & _FOUR_BITS)
        kind = piece & 7
        if kind == CASTLING_ROOK:
            kind = ROOK
            position.castling |= bit(square)
        position.kinds[kind] |= bit(square)
        position.sides[1 if piece >= BLACK_PIECE else 0] |= bit(square)
        i += 1
        occupied &= occupied - U64(1)
    position.turn = 1 if packed.state >= BLACK_TO_MOVE else 0
    position.en_passant = packed.state & (BLACK_TO_MOVE - 1)
    position.halfmoves = position.reversible_plies = packed.halfmoves
    position.fullmoves = packed.fullmoves
    refresh(position)
