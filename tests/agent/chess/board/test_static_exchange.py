"""Static exchange evaluation, compared with a reference that plays the captures."""

import random

import chess
import numba
import pytest

from agent.chess.board.kernel_board import KernelBoard
from agent.chess.board.records import Worker, position_at
from agent.chess.board.static_exchange import PIECE_VALUES, see_ge


@numba.njit
def wins(worker: Worker, move: int, threshold: int) -> bool:
    return see_ge(position_at(worker, 0), move, threshold)


def value(board: chess.Board, square: int) -> int:
    kind = board.piece_type_at(square)
    return PIECE_VALUES[kind - 1] if kind else 0


def exchange(board: chess.Board, move: chess.Move) -> int:
    """Return the gain of the captures that begin with `move`; each side may stop."""
    if board.is_castling(move):
        return 0
    board = board.copy(stack=False)
    target, side = move.to_square, board.turn
    gain = value(board, target)
    if board.is_en_passant(move):
        gain = PIECE_VALUES[chess.PAWN - 1]
        board.remove_piece_at(target + (-8 if side else 8))
    kind = board.piece_type_at(move.from_square) or chess.PAWN
    board.remove_piece_at(move.from_square)
    if move.promotion:
        gain += PIECE_VALUES[move.promotion - 1] - PIECE_VALUES[chess.PAWN - 1]
        kind = move.promotion
    board.set_piece_at(target, chess.Piece(kind, side))
    return gain - recapture(board, target, not side)


def recapture(board: chess.Board, target: int, side: chess.Color) -> int:
    attackers = sorted(board.attackers(side, target), key=lambda square: value(board, square))
    if not attackers:
        return 0
    kind = board.piece_type_at(attackers[0]) or chess.PAWN
    if kind == chess.KING and board.attackers(not side, target):
        return 0
    gain = value(board, target)
    board.remove_piece_at(attackers[0])
    board.set_piece_at(target, chess.Piece(kind, side))
    return max(0, gain - recapture(board, target, not side))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(5))
def test_static_exchange_evaluation_equals_reference(seed: int) -> None:
    rng = random.Random(seed)
    game = KernelBoard()
    compared = 0
    board = chess.Board()
    while compared < 2000:
        moves = list(board.legal_moves)
        if not moves or len(board.move_stack) > 80:
            board.reset()
            continue
        game.load(board)
        for number in game.legal_moves():
            move = game.decode_move(number)
            if not (board.is_capture(move) or rng.random() < 0.1):
                continue
            expected = exchange(board, move)
            for threshold in (expected, expected + 1, 0, 1, -100, 100):
                assert wins(game.worker, number, threshold) == (expected >= threshold), (
                    board.fen(),
                    move.uci(),
                    expected,
                    threshold,
                )
            compared += 1
        board.push(rng.choice(moves))
