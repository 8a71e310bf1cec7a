"""A position with its label in 32 bytes, as files of training positions hold it.

The pieces stand in the order of their squares, four bits each: the kind (0 for a pawn, to 5), plus
8 for Black. A rook that may castle has the kind 6, so that castling rights, those of Chess960 too,
need no room.
"""

from typing import Annotated

import chess
import numpy as np

from agent.kernel.bits import Bits
from agent.kernel.record import FixedArray, layout

PACKED_BYTES = 32
CASTLING_ROOK = 6
BLACK_PIECE = 8
BLACK_TO_MOVE = 128


class PackedPosition:
    """The record; see `agent.kernel.record` for how it is declared."""

    occupied: Bits
    pieces: Annotated[
        FixedArray[Bits], 2
    ]  # the first sixteen, the others; the first in the lowest bits
    state: Annotated[int, np.uint8]  # en passant square, 64 if none; 128 more with Black to move
    halfmoves: Annotated[int, np.uint8]
    fullmoves: Annotated[int, np.uint16]
    score: Annotated[int, np.int16]  # of the search, in centipawns for the side to move
    result: Annotated[int, np.int8]  # of the game for the side to move: 1, 0 or -1
    depth: Annotated[int, np.uint8]  # plies that the search completed


packed_dtype = layout(PackedPosition, align=False)


def unpack_board(packed: np.void) -> chess.Board:
    """Make a board of one packed position; castling is as in Chess960 only where it must be."""
    board = chess.Board(None)
    for number, square in enumerate(chess.scan_forward(int(packed["occupied"]))):
        piece = int(packed["pieces"][number >> 4]) >> 4 * (number & 15) & 15
        kind = piece & 7
        if kind == CASTLING_ROOK:
            kind = chess.ROOK - 1
            board.castling_rights |= chess.BB_SQUARES[square]
        board.set_piece_at(square, chess.Piece(kind + 1, piece < BLACK_PIECE))
    state = int(packed["state"])
    board.turn = state < BLACK_TO_MOVE
    target = state & (BLACK_TO_MOVE - 1)
    board.ep_square = None if target == 64 else target
    board.halfmove_clock = int(packed["halfmoves"])
    board.fullmove_number = int(packed["fullmoves"])
    if board.castling_rights != board.clean_castling_rights():
        board.chess960 = True
    return board
