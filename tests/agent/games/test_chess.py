import chess
import pytest

from agent.evaluation_loading import load_game_evaluation
from agent.game import MoveClass, parse_move
from agent.games import catalogue
from agent.games.chess import Chess, evaluate
from agent.games.perft import perft
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions
from tests import perft_cases

LEAVES = 1_000
STANDARD = [case for case in (*perft_cases.KNOWN, *perft_cases.SUITE) if not case.chess960]


def test_perft_matches_known_values():
    assert [perft(Chess(), depth) for depth in range(1, 4)] == [20, 400, 8902]


@pytest.mark.parametrize("case", STANDARD, ids=lambda case: case.name)
def test_perft_matches_known_values_in_special_positions(case):
    """As deep as is fast. Positions that are drawn by the rules have no leaves below."""
    for depth, leaves in case.up_to(LEAVES):
        assert perft(Chess(case.fen), depth) == leaves


@pytest.mark.parametrize(
    ("fen", "outcome"),
    [
        ("7k/5R2/6K1/8/8/8/8/8 b - - 0 1", None),
        ("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", 1),
        ("7k/6Q1/6K1/8/8/8/8/8 b - - 100 80", 1),
        ("8/8/8/8/8/6k1/6q1/7K w - - 0 1", -1),
        ("7k/8/6QK/8/8/8/8/8 b - - 0 1", 0),
        ("7k/8/6NK/8/8/8/8/8 b - - 0 1", 0),
        ("7k/7p/6QK/8/8/8/8/8 b - - 100 80", 0),
    ],
)
def test_detects_mates_and_draws(fen, outcome):
    game = Chess(fen)
    assert game.outcome() == outcome
    assert bool(list(game.moves())) == (outcome is None)


def test_third_repetition_is_a_draw_but_the_second_is_not():
    game = Chess()
    for _ in range(2):
        assert game.outcome() is None
        for text in ("g1f3", "g8f6", "f3g1", "f6g8"):
            game.play(parse_move(game, text))
    assert game.outcome() == 0
    assert list(game.moves()) == []


def test_moves_are_classified():
    game = Chess("4k3/8/2p5/3q4/8/2N5/1R6/4K3 w - - 0 1")
    classes = {game.text(move): game.move_class(move) for move in game.moves()}
    assert classes["b2b8"] == MoveClass.CHECK
    assert classes["c3d5"] == MoveClass.CAPTURE
    assert classes["b2d2"] == MoveClass.THREAT
    assert classes["b2b3"] == MoveClass.FORWARD
    assert classes["e1f1"] == MoveClass.SIDEWAYS
    assert classes["c3b1"] == MoveClass.BACKWARD


def test_search_finds_mate_in_one():
    game = Chess("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1")
    found = AlphaBeta(evaluate, AlphaBetaOptions(continuation=True)).search(game, 1)
    assert (game.text(found.move), found.value) == ("a1a8", 1)


def test_engine_evaluation_is_scaled_to_game_values(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def f(board):\n    return 300 if board.turn else -300\n")
    value = load_game_evaluation(catalogue.find("chess"), f"{path}:f")
    assert value(Chess()) == pytest.approx(0.01)


def test_castling_rights_in_any_order_and_negative_counters_are_accepted():
    game = Chess("r3k2r/8/8/8/8/8/8/R3K2R w qkQK - -1 0")
    assert game.board.fen() == "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"


def test_rejects_invalid_fen():
    with pytest.raises(ValueError, match=r"^invalid FEN '8/8.*': .*no white king, no black king"):
        Chess("8/8/8/8/8/8/8/8 w - - 0 1")
    with pytest.raises(catalogue.GameError, match="game chess: "):
        catalogue.new_game("chess", fen="nonsense")


def test_starts_from_the_standard_position():
    assert Chess().board == chess.Board()
