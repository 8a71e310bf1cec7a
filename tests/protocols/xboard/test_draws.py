import chess
import pytest

from agent.limits import Cp, Info, Mate
from protocols.xboard.draws import EVEN_MOVE_COUNT, DrawPolicy, is_claimable_draw, result_by_rule

LATE = chess.Board("7k/8/8/8/8/8/R7/r5K1 w - - 10 60")


@pytest.mark.parametrize(
    ("fen", "over"),
    [
        (chess.STARTING_FEN, None),
        ("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", "0-1 {Black mates}"),
        ("R6k/8/6K1/8/8/8/8/8 b - - 0 1", "1-0 {White mates}"),
        ("R6k/8/6K1/8/8/8/8/8 b - - 100 99", "1-0 {White mates}"),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "1/2-1/2 {Stalemate}"),
        ("7k/8/6K1/8/8/8/8/6N1 b - - 0 1", "1/2-1/2 {Insufficient material}"),
        ("7k/8/6K1/8/8/8/8/5NN1 b - - 0 1", None),
        ("7k/8/6K1/8/8/8/8/6R1 b - - 100 99", "1/2-1/2 {Draw by fifty move rule}"),
        ("7k/8/6K1/8/8/8/8/6R1 b - - 99 99", None),
    ],
)
def test_game_end_is_detected_by_rules(fen, over):
    assert result_by_rule(chess.Board(fen)) == over
    assert is_claimable_draw(over) == (over is not None and "fifty" in over)


def test_third_repetition_is_a_draw():
    board = chess.Board()
    for move in ("g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"):
        board.push_uci(move)
    assert result_by_rule(board) is None
    board.push_uci("f6g8")
    assert result_by_rule(board) == "1/2-1/2 {Draw by repetition}"
    assert is_claimable_draw(result_by_rule(board))


def agreement(*scores):
    made = DrawPolicy()
    for score in scores:
        made.record_score(Info(10, score, (), nodes=1000))
    return made


@pytest.mark.parametrize(
    ("scores", "accepts"),
    [
        ((), False),
        ((Cp(200),), False),
        ((Cp(0),), False),
        ((Cp(-60),), True),
        ((Cp(-60), Cp(10)), False),
        ((Mate(-5),), True),
        ((Mate(5),), False),
        ((Cp(0),) * EVEN_MOVE_COUNT, True),
        ((Cp(0),) * (EVEN_MOVE_COUNT - 1), False),
        ((Cp(30), *(Cp(0),) * (EVEN_MOVE_COUNT - 1)), False),
        ((Mate(3), *(Cp(0),) * (EVEN_MOVE_COUNT - 1)), False),
    ],
)
def test_draw_offer_decision_follows_recent_scores(scores, accepts):
    assert agreement(*scores).accepts(LATE) == accepts


def test_draw_offer_decision_follows_draw_worth():
    assert agreement(Cp(100)).accepts(LATE, 200)
    assert not agreement(Cp(200)).accepts(LATE, 200)
    assert not agreement(Cp(-100)).accepts(LATE, -100)
    assert agreement(Cp(-200)).accepts(LATE, -100)
    assert not agreement(*[Cp(0)] * EVEN_MOVE_COUNT).accepts(LATE, -100)


def test_draw_offer_in_even_position_is_declined_early_in_game():
    even = agreement(*(Cp(0),) * EVEN_MOVE_COUNT)
    assert not even.accepts(chess.Board())
    even.clear()
    assert not even.accepts(LATE)


def test_scores_without_search_do_not_count():
    made = DrawPolicy()
    made.record_score(None)
    made.record_score(Info(1, Cp(-300), (), nodes=0))
    assert not made.accepts(LATE)


def test_claimable_draw_is_accepted():
    assert agreement(Cp(500)).accepts(chess.Board("7k/8/8/8/8/8/R7/r5K1 w - - 100 90"))
