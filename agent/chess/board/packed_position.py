"""The record format of training positions."""

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
    """A position with its search score and game result, in 32 bytes.

    The pieces are stored in square order with four bits each: 0 (pawn) to 5 (king), or 6 for a rook
    with castling rights. Black pieces add 8.
    """

    occupied: Bits
    pieces: Annotated[FixedArray[Bits], 2]  # 16 pieces per word, the first in the lowest bits
    state: Annotated[int, np.uint8]  # en passant square (64: none), plus 128 if Black is to move
    halfmoves: Annotated[int, np.uint8]
    fullmoves: Annotated[int, np.uint16]
    score: Annotated[int, np.int16]  # search score in centipawns, for the side to move
    result: Annotated[int, np.int8]  # game result for the side to move: 1, 0 or -1
    depth: Annotated[int, np.uint8]  # depth of the search in plies


packed_dtype = layout(PackedPosition, align=False)


def unpack_board(packed: np.void) -> chess.Board:
    """Convert a packed position. Chess960 mode is set only if the castling rights require it."""
    board = chess.Board(None)
    for i, square in enumerate(chess.scan_forward(int(packed["occupied"]))):
        piece = int(packed["pieces"][i >> 4]) >> 4 * (i & 15) & 15
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
