import random

import chess
import numba
import numpy as np
import pytest

from agent.chess.board.kernel_board import KernelBoard
from agent.chess.board.position import encode_move, make_move
from agent.chess.board.records import Worker, position_at
from agent.chess.board.upcoming_repetition import has_upcoming_repetition
from tests.support import compiled_when_called


@compiled_when_called(numba.boolean(Worker, numba.types.Array(numba.int32, 1, "C")))
def _can_repeat_after(worker, moves):
    for ply in range(len(moves)):
        make_move(
            worker, ply, encode_move(position_at(worker, ply), moves[ply] & 63, moves[ply] >> 6, 0)
        )
    return has_upcoming_repetition(worker, len(moves))


def repeats(board, line):
    """Return whether a pseudo-legal move repeats a position of the line, by python-chess."""
    before = chess.Board(line)
    seen = [before._transposition_key()]
    for move in board.move_stack:
        before.push(move)
        seen.append(before._transposition_key())
    for move in list(board.pseudo_legal_moves):
        board.push(move)
        key = board._transposition_key()
        board.pop()
        if key in seen:
            return True
    return False


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("seed", range(60))
def test_can_repeat_agrees_with_python_chess(seed):
    chance = random.Random(seed)
    start = chance.choice(
        (
            "4k3/8/2n5/8/8/5B2/8/4K3 w - - 0 1",
            "r3k3/8/8/8/3Q4/8/8/4K2R w - - 0 1",
            "1n2k3/8/8/8/8/8/8/1N2K3 b - - 0 1",
        )
    )
    board = chess.Board(start)
    for _ in range(12):
        # Move pieces back and forth, so that positions are repeated.
        quiet = [m for m in board.legal_moves if not board.is_capture(m)]
        back = [m for m in quiet if len(board.move_stack) > 1 and undoes(board, m)]
        if not quiet:
            break
        board.push(chance.choice(back if back and chance.random() < 0.6 else quiet))
        game = KernelBoard()
        game.load(chess.Board(start))
        moves = [m.from_square | m.to_square << 6 for m in board.move_stack]
        result = _can_repeat_after(game.worker, np.array(moves, dtype=np.int32))
        assert result == repeats(board, start), (start, board.move_stack)


def undoes(board, move):
    last = board.move_stack[-2]
    return (move.from_square, move.to_square) == (last.to_square, last.from_square)
