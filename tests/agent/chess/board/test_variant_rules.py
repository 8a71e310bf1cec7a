"""The rules of variants in the kernel, compared with the boards of python-chess."""

import random
from typing import Any

import chess
import pytest

from agent.chess.variants import variant_module
from agent.games.fen import board_from_fen
from agent.games.variants import VARIANTS, ChessRules, board_class, variant_outcome

OTHERS = VARIANTS[1:]

POSITIONS = {
    "kingofthehill": (
        "rnbq1bnr/ppp1pppp/3k4/3p4/3P4/3K4/PPP1PPPP/RNBQ1BNR w - - 0 5",
        "8/8/2k5/8/8/2K5/4P3/8 w - - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    ),
    "3check": (
        "rnbqkb1r/pppp1ppp/5n2/4p3/4P3/3P4/PPP2PPP/RNBQKBNR w KQkq - 1+1 0 3",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 2+1 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 1+2 0 1",
    ),
    "horde": (
        "rnbqkbnr/ppp2ppp/8/1PPpp1P1/PPPP1PPP/PPPPPPPP/PPPPPPPP/PPPPPPPP w kq d6 0 3",
        "r3k2r/pppq1ppp/2n2n2/2bpp1B1/P1P1PPP1/1P1P2PP/PPPP1P1P/PPPP4 b kq - 0 9",
        "4k3/P6P/8/8/3p4/8/4P3/1P4P1 w - - 0 1",
    ),
    "racingkings": (
        "8/8/8/8/8/8/krbnNBRK/qrbnNBRQ b - - 1 1",
        "8/2K5/5k2/3R4/8/2n5/1rb1NB2/q1bnN1RQ w - - 10 12",
        "6K1/2k5/8/8/3n4/8/1r3B2/5BRQ b - - 1 20",
        "8/k6K/8/3b4/8/8/8/7R w - - 0 1",
    ),
    "antichess": (
        "rnbqkbnr/p1pppppp/8/1p6/8/4P3/PPPP1PPP/RNBQKBNR w - - 0 2",
        "8/P3k3/8/8/2pP4/8/3p3K/8 b - d3 0 1",
        "8/1P6/2p5/8/8/5k2/6p1/K6B w - - 0 1",
        "8/8/8/8/8/1b6/P7/8 w - - 0 1",
    ),
    "atomic": (
        "rnb1kbnr/pppp1ppp/8/4p3/4P2q/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/8/8/3kK3/8/8/8/R2Q3r w - - 0 1",
        "r3k2r/8/8/8/4pPp1/8/6K1/8 b kq f3 0 1",
        "4k3/4K3/8/8/8/8/8/R6r b - - 0 1",
    ),
    "crazyhouse": (
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R[QNPbp] w KQkq - 0 1",
        "rnb1kbnr/ppp1pppp/8/8/8/5q2/PPPPPP1P/RNBQKB1R[Pn] w KQkq - 0 4",
        "4k3/1Q~6/8/8/4b3/8/Kpp5/8[Rr] b - - 0 1",
        "2Q~2k2/8/8/8/8/8/1p6/4K3[PNBRQpnbrq] b - - 0 1",
    ),
}


def kernel(variant: str) -> Any:
    return variant_module(variant, "board.kernel_board")


def legal_moves(board: chess.Board) -> list[chess.Move]:
    return [] if variant_outcome(board) is not None else list(board.legal_moves)


def perft(board: chess.Board, depth: int) -> int:
    if depth == 0:
        return 1
    moves = legal_moves(board)
    if depth == 1:
        return len(moves)
    leaves = 0
    for move in moves:
        board.push(move)
        leaves += perft(board, depth - 1)
        board.pop()
    return leaves


def termination(board: chess.Board) -> chess.Termination | None:
    """Return how the game has ended, in the order of the kernel."""
    outcome = variant_outcome(board)
    if outcome is not None:
        return (
            chess.Termination.VARIANT_DRAW,
            chess.Termination.VARIANT_WIN,
            chess.Termination.VARIANT_LOSS,
        )[outcome]
    if not any(board.legal_moves):
        return chess.Termination.CHECKMATE if board.is_check() else chess.Termination.STALEMATE
    if board.is_insufficient_material():
        return chess.Termination.INSUFFICIENT_MATERIAL
    if board.is_fifty_moves():
        return chess.Termination.FIFTY_MOVES
    return chess.Termination.THREEFOLD_REPETITION if board.is_repetition(3) else None


@pytest.mark.thorough(keep=3)
@pytest.mark.parametrize("variant", OTHERS)
def test_perft_is_that_of_python_chess(variant: str, thorough: bool) -> None:
    for fen in ("", *POSITIONS[variant]):
        board = board_class(variant)(fen) if fen else board_class(variant)()
        for depth in range(1, 4 if thorough else 3):
            assert kernel(variant).perft(board, depth) == perft(board, depth), (fen, depth)


@pytest.mark.thorough(keep=3)
@pytest.mark.parametrize("variant", OTHERS)
def test_random_games_have_equal_moves_keys_and_results(variant: str, thorough: bool) -> None:
    rng = random.Random(1)
    module = kernel(variant)
    game, copied = module.KernelBoard(), module.KernelBoard()
    for number in range(60 if thorough else 12):
        fens = POSITIONS[variant]
        fen = fens[number % len(fens)] if number % 3 == 2 else ""
        board = board_class(variant)(fen) if fen else board_class(variant)()
        for _ in range(200):
            game.load(board)
            assert game.outcome() == termination(board), board.fen()
            moves = legal_moves(board)
            decoded = [game.decode_move(move) for move in game.legal_moves()]
            assert len(decoded) == len(set(decoded)), board.fen()
            assert set(decoded) == set(moves), board.fen()
            copied.load(board.copy(stack=False))
            assert copied.key() == game.key(), board.fen()
            if not moves or variant_outcome(board) is not None:
                break
            board.push(rng.choice(moves))


def test_many_moves_fit_into_the_arrays() -> None:
    fen = "kn2Q1K1/ppQ3Q1/Q6Q/3Q1Q2/1Q5Q/1Q5Q/4Q3/Q1Q3Q1[QRBNP] w - - 0 1"
    board = board_from_fen(fen, ChessRules("crazyhouse"))
    kernel_board = variant_module("crazyhouse", "board.kernel_board").KernelBoard()
    kernel_board.load(board)
    assert len(kernel_board.legal_moves()) == board.legal_moves.count() == 450
