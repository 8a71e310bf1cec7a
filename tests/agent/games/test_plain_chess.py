import subprocess
import sys
from random import Random

import chess
import chess.variant
import pytest

from agent.games.plain_chess import PlainChess, evaluate, position_key, static_gain


def shuffled(board, *rounds):
    """Move knights out and back this number of times."""
    for _ in range(*rounds):
        for uci in ("g1f3", "g8f6", "f3g1", "f6g8"):
            board.push_uci(uci)
    return board


def play(game, *moves):
    for move in moves:
        game.play(chess.Move.from_uci(move))


def test_outcome_is_positive_when_white_wins():
    white_mated = chess.Board("4k3/8/8/8/8/8/5PPP/r5K1 w - - 0 1")
    assert PlainChess(white_mated).outcome() == -1
    black_mated = chess.Board("R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1")
    assert PlainChess(black_mated).outcome() == 1
    assert PlainChess(chess.Board("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1")).outcome() == 0
    assert PlainChess(chess.Board()).outcome() is None


def test_repetition_since_the_root_is_a_draw():
    game = PlainChess(chess.Board())
    play(game, "g1f3", "g8f6", "f3g1")
    assert game.outcome() is None
    play(game, "f6g8")
    assert game.outcome() == 0
    assert game.quick_outcome() == 0
    game.undo()
    assert game.outcome() is None


def test_repetition_from_before_the_root_must_occur_twice():
    before = ["e2e4", "e7e5", "g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"]
    for length, drawn in ((5, False), (9, True)):
        board = chess.Board()
        for uci in before[:length]:
            board.push_uci(uci)
        game = PlainChess(board)
        play(game, "f6g8")
        assert (game.outcome() == 0) is drawn


def test_root_is_not_a_draw_by_repetition_or_fifty_moves():
    assert PlainChess(shuffled(chess.Board(), 2)).outcome() is None
    assert PlainChess(chess.Board("4k3/8/8/8/8/8/8/4K3 w - - 120 90")).outcome() is None


def test_repetition_requires_the_same_castling_rights():
    board = chess.Board("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    game = PlainChess(board)
    play(game, "e1e2", "e8e7", "e2e1", "e7e8")
    assert game.outcome() is None
    play(game, "e1e2", "e8e7", "e2e1", "e7e8")
    assert game.outcome() == 0


def test_mate_takes_precedence_over_the_fifty_move_rule():
    game = PlainChess(chess.Board("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 99 80"))
    play(game, "g1f1")
    assert game.outcome() == 0
    game.undo()
    play(game, "a1a8")
    assert game.outcome() == 1


def test_noisy_moves_are_captures_and_queen_promotions():
    random = Random(3)
    boards = 0
    while boards < 300:
        board = chess.Board()
        while not board.is_game_over() and boards < 300:
            board.push(random.choice(list(board.legal_moves)))
            boards += 1
            expected = {
                move
                for move in board.legal_moves
                if board.is_capture(move) or move.promotion == chess.QUEEN
            }
            noisy_moves = list(PlainChess(board).noisy_moves())
            assert set(noisy_moves) == expected
            assert len(noisy_moves) == len(expected)


def test_under_promotion_is_noisy_only_if_it_captures():
    game = PlainChess(chess.Board("1r2k3/P7/8/8/8/8/8/4K3 w - - 0 1"))
    assert {move.uci() for move in game.noisy_moves()} == {"a7a8q", *(f"a7b8{p}" for p in "qrbn")}


def test_move_ratings_prefer_the_more_valuable_victim():
    game = PlainChess(chess.Board("4k3/8/8/3q1r2/4P3/8/8/R3K2R w KQ - 0 1"))
    best = max(game.moves(), key=game.move_rating)
    assert best.uci() == "e4d5"
    assert game.move_rating(chess.Move.from_uci("e1g1")) == 0


def test_castling_in_chess960_notation_is_not_a_capture():
    game = PlainChess(chess.Board("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", chess960=True))
    castling = chess.Move.from_uci("e1h1")
    assert castling in game.moves()
    assert game.move_rating(castling) == 0


def test_evaluation_is_symmetric_for_both_colours():
    random = Random(4)
    board = chess.Board()
    for _ in range(200):
        if board.is_game_over():
            board = chess.Board()
        board.push(random.choice(list(board.legal_moves)))
        assert evaluate(board) == evaluate(board.mirror())
        swapped = board.copy()
        swapped.turn = not board.turn
        assert abs(evaluate(board) + evaluate(swapped)) == 0


@pytest.mark.parametrize("piece", ["P", "N", "B", "R", "Q"])
def test_extra_piece_raises_the_evaluation(piece):
    board = chess.Board()
    without = chess.Board()
    square = next(iter(board.pieces(chess.Piece.from_symbol(piece).piece_type, chess.WHITE)))
    without.remove_piece_at(square)
    assert evaluate(without) < evaluate(board) - 50


def test_plain_search_does_not_import_numba():
    code = "import agent.chess.search.python_search, sys; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("fen", "move", "gain"),
    [
        ("6k1/5ppp/8/8/8/8/q4PPP/1R4K1 w - - 0 1", "b1b8", float("inf")),
        ("4k3/8/8/3q4/8/8/8/3RK3 w - - 0 1", "d1d5", 1000),
        ("4k3/8/2p5/3p4/8/8/8/3QK3 w - - 0 1", "d1d5", 85 - 1000),
        ("4k3/8/8/3p4/8/2N5/8/4K3 w - - 0 1", "e1f1", 0),
        ("4k3/8/8/8/3p4/2N5/8/4K3 w - - 0 1", "e1f1", -325),
        ("4k3/8/8/8/3p4/2N5/8/4K3 w - - 0 1", "c3e4", 0),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", 85),
        ("8/P7/8/8/8/k7/8/2K5 w - - 0 1", "a7a8q", 1000 - 85),
        ("4k3/8/8/8/8/8/3r4/3NK3 w - - 0 1", "e1d2", 480),
        ("4k3/8/8/8/8/4p3/3r4/3NK3 w - - 0 1", "d1f2", 85 - 325),
    ],
)
def test_static_gain_counts_captures_and_what_the_opponent_can_capture(fen, move, gain):
    board = chess.Board(fen)
    assert static_gain(board, chess.Move.from_uci(move)) == gain
    assert board.fen() == chess.Board(fen).fen()


def test_castling_captures_nothing_in_chess960():
    board = chess.Board("4k3/8/8/8/8/8/8/4K2R w H - 0 1", chess960=True)
    assert static_gain(board, chess.Move.from_uci("e1h1")) == 0


@pytest.mark.parametrize(
    ("board", "outcome"),
    [
        (chess.variant.KingOfTheHillBoard("4k3/8/8/8/4K3/8/8/8 b - - 0 1"), 1),
        (chess.variant.KingOfTheHillBoard("8/8/8/4k3/8/8/8/4K3 w - - 0 1"), -1),
        (chess.variant.ThreeCheckBoard("4k3/8/8/8/8/8/8/4K3 w - - 1+0 0 1"), -1),
        (chess.variant.AntichessBoard("8/8/8/8/8/8/8/R7 b - - 0 1"), -1),
        (chess.variant.HordeBoard("4k3/8/8/8/8/8/8/8 w - - 0 1"), -1),
        (chess.variant.RacingKingsBoard("k6K/8/8/8/8/8/8/8 w - - 0 1"), 0),
        (chess.variant.CrazyhouseBoard("4k3/8/8/8/8/8/8/4K3[Q] w - - 0 1"), None),
    ],
)
def test_variant_decides_outcome(board, outcome):
    assert PlainChess(board).outcome() == outcome
    assert PlainChess(board).quick_outcome() == outcome


def test_pockets_and_checks_belong_to_the_position():
    fens = ("4k3/8/8/8/8/8/8/4K3[Q] w - - 0 1", "4k3/8/8/8/8/8/8/4K3[q] w - - 0 1")
    keys = {position_key(chess.variant.CrazyhouseBoard(fen)) for fen in fens}
    checks = {
        position_key(chess.variant.ThreeCheckBoard(f"4k3/8/8/8/8/8/8/4K3 w - - {left} 0 1"))
        for left in ("3+2", "2+3")
    }
    assert len(keys) == len(checks) == 2


def test_evaluation_knows_the_aim_of_the_variant():
    near = chess.variant.RacingKingsBoard("8/K7/8/8/8/8/7k/8 w - - 0 1")
    assert evaluate(near) > 0
    queen_up = chess.variant.AntichessBoard("4k3/8/8/8/8/8/8/3QK3 w - - 0 1")
    assert evaluate(queen_up) < 0
    one_left = chess.variant.ThreeCheckBoard("4k3/8/8/8/8/8/8/4K3 w - - 1+3 0 1")
    assert evaluate(one_left) > 0
    assert evaluate(one_left.mirror()) == evaluate(one_left)
