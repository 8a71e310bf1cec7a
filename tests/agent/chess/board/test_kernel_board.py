"""The kernel's rules, compared with python-chess."""

import random

import chess
import chess.polyglot
import pytest

from agent.chess.board.kernel_board import KernelBoard, perft


def plain_perft(board: chess.Board, depth: int) -> int:
    if depth == 1:
        return board.legal_moves.count()
    leaves = 0
    for move in board.legal_moves:
        board.push(move)
        leaves += plain_perft(board, depth - 1)
        board.pop()
    return leaves


@pytest.mark.thorough(keep=8)
@pytest.mark.parametrize("number", range(0, 960, 40))
def test_chess960_perft_equals_python_chess(number: int) -> None:
    board = chess.Board.from_chess960_pos(number)
    rng = random.Random(number)
    for _ in range(rng.randrange(30)):  # castling becomes possible
        moves = [m for m in board.legal_moves if board.piece_type_at(m.from_square) != chess.KING]
        board.push(rng.choice(moves or list(board.legal_moves)))
        if board.is_game_over():
            board.pop()
    assert perft(board, 3) == plain_perft(board, 3)


def test_perft_at_depth_zero_is_one() -> None:
    assert perft(chess.Board(), 0) == 1


def random_position(rng: random.Random, chess960: bool) -> chess.Board:
    """Return the start of a game, sometimes with few pieces or with castling rights."""
    if chess960:
        return chess.Board.from_chess960_pos(rng.randrange(960))
    return chess.Board(
        rng.choice(
            [
                chess.STARTING_FEN,
                chess.STARTING_FEN,
                "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
                "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1",
                "8/2bk4/8/8/8/8/3NK3/8 w - - 96 90",
                "8/3bk3/8/8/8/5B2/4K3/8 w - - 0 1",
            ]
        )
    )


def terminations(board: chess.Board) -> set[chess.Termination]:
    reasons = {
        chess.Termination.CHECKMATE: board.is_checkmate(),
        chess.Termination.STALEMATE: board.is_stalemate(),
        chess.Termination.INSUFFICIENT_MATERIAL: board.is_insufficient_material(),
        chess.Termination.FIFTY_MOVES: board.is_fifty_moves(),
        chess.Termination.THREEFOLD_REPETITION: board.is_repetition(3),
    }
    return {reason for reason, holds in reasons.items() if holds}


@pytest.mark.parametrize("seed", range(20))
def test_rules_match_python_chess_in_random_positions(
    seed: int, pytestconfig: pytest.Config, thorough: bool
) -> None:
    """Compare moves, keys and results, `--positions` of them over all seeds."""
    rng = random.Random(seed)
    game = KernelBoard()
    board = random_position(rng, False)
    positions = pytestconfig.getoption("positions") or (20_000 if thorough else 2_000)
    for _ in range(positions // 20):
        moves = list(board.legal_moves)
        if not moves or len(board.move_stack) > 150 or board.is_insufficient_material():
            board = random_position(rng, rng.random() < 0.3)
            moves = list(board.legal_moves)
        # Moves back and forth cause repetitions.
        back = None
        if len(board.move_stack) > 1 and rng.random() < 0.3:
            last = board.move_stack[-2]
            back = chess.Move(last.to_square, last.from_square)
        board.push(back if back in moves else rng.choice(moves))
        game.load(board)
        assert game.key() == chess.polyglot.zobrist_hash(board), board.fen()
        generated = sorted(game.decode_move(number).uci() for number in game.legal_moves())
        assert generated == sorted(move.uci() for move in board.legal_moves), board.fen()
        expected = terminations(board)
        outcome = game.outcome()
        assert outcome in expected if expected else outcome is None, (board.fen(), outcome)


def test_draws_are_detected_in_long_games() -> None:
    """Repetition looks back only to the last irreversible move, however long the game is."""
    board = chess.Board("4k3/8/8/8/8/8/4P3/4K2R w - - 0 1")
    for text in ("e1d1", "e8d8", "d1e1", "d8e8") * 80:
        board.push_uci(text)
    game = KernelBoard()
    game.load(board)
    assert game.outcome() is chess.Termination.FIFTY_MOVES
    board.push_uci("e2e4")
    game.load(board)
    assert game.outcome() is None
    for text in ("e8d8", "e1d1", "d8e8", "d1e1") * 2:
        board.push_uci(text)
    game.load(board)
    assert game.outcome() is chess.Termination.THREEFOLD_REPETITION


def test_null_move_resets_repetition() -> None:
    board = chess.Board()
    for text in ("g1f3", "g8f6", "f3g1", "f6g8", "0000", "g8f6", "g1f3", "f6g8", "f3g1"):
        board.push(chess.Move.from_uci(text))
    game = KernelBoard()
    game.load(board)
    assert game.outcome() is None
    assert sorted(map(str, map(game.decode_move, game.legal_moves()))) == sorted(
        map(str, board.legal_moves)
    )


def test_all_moves_are_generated_with_15_queens() -> None:
    board = chess.Board("QQQQ4/QQQQ4/QQQQ4/QQQ5/8/8/8/K6k w - - 0 1")
    game = KernelBoard()
    game.load(board)
    assert len(game.legal_moves()) == board.legal_moves.count()
