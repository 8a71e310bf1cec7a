"""Perft divide."""

import threading

import chess

from agent.chess.board.kernel_board import perft
from agent.chess.board.perft import divide


def test_divide_uses_board_move_notation() -> None:
    board = chess.Board("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    counts = dict(divide(board, 1, threading.Event()))
    assert counts == dict.fromkeys(board.legal_moves, 1)
    board.chess960 = True
    counts = dict(divide(board, 1, threading.Event()))
    assert chess.Move.from_uci("e1h1") in counts
    assert set(counts) == set(board.legal_moves)


def test_divide_counts_sum_to_perft() -> None:
    parts = divide(chess.Board(), 4, threading.Event())
    assert sum(leaves for _, leaves in parts) == perft(chess.Board(), 4)


def test_divide_can_be_stopped() -> None:
    stop = threading.Event()
    stop.set()
    assert list(divide(chess.Board(), 9, stop)) == []
