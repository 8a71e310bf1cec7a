"""The FEN of packed positions equals the FEN of their boards."""

import random

import chess
import numpy as np
import pytest

from agent.chess.board.packed_fen import packed_fens
from agent.chess.board.packed_position import (
    BLACK_PIECE,
    BLACK_TO_MOVE,
    CASTLING_ROOK,
    packed_dtype,
    unpack_board,
)


def packed(board: chess.Board) -> np.void:
    """Pack a board in plain Python."""
    result = np.zeros(1, packed_dtype)[0]
    result["occupied"] = board.occupied
    words = [0, 0]
    for number, square in enumerate(chess.scan_forward(board.occupied)):
        piece = board.piece_at(square)
        assert piece
        castles = board.castling_rights & chess.BB_SQUARES[square]
        kind = CASTLING_ROOK if castles else piece.piece_type - 1
        words[number >> 4] |= (kind + BLACK_PIECE * (not piece.color)) << 4 * (number & 15)
    result["pieces"] = words
    target = 64 if board.ep_square is None else board.ep_square
    result["state"] = target + BLACK_TO_MOVE * (not board.turn)
    result["halfmoves"], result["fullmoves"] = board.halfmove_clock, board.fullmove_number
    return result


def walk(board: chess.Board, seed: int) -> list[chess.Board]:
    """Return the boards of a random game."""
    generator = random.Random(seed)
    boards = [board.copy()]
    while not board.is_game_over() and len(boards) < 120:
        board.push(generator.choice(list(board.legal_moves)))
        boards.append(board.copy(stack=False))
    return boards


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("start", [chess.STARTING_FEN, 0, 518, 700, 959])
def test_packed_fen_equals_board_fen(start: str | int) -> None:
    fresh = chess.Board(start) if isinstance(start, str) else chess.Board.from_chess960_pos(start)
    boards = [board for seed in range(4) for board in walk(fresh.copy(), seed)]
    positions = np.array([packed(board) for board in boards], packed_dtype)
    fens = packed_fens(positions)
    assert any(board.ep_square is not None for board in boards)
    for board, position, (fen, chess960) in zip(boards, positions, fens, strict=True):
        unpacked = unpack_board(position)
        assert chess960 == unpacked.chess960
        assert fen == unpacked.fen(shredder=chess960, en_passant="fen")
        assert chess.Board(fen, chess960=True) == chess.Board(board.fen(), chess960=True)


def test_empty_array_gives_no_fens() -> None:
    assert packed_fens(np.zeros(0, packed_dtype)) == []
