import pytest

from agent.game import MoveClass, parse_move
from agent.games.checkers import _BITS, Checkers, State, evaluate
from agent.games.perft import perft
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions


def position(black=(), white=(), kings=(), turn=0):
    """Set up a position from square numbers."""

    def squares(numbers):
        return sum(_BITS[number] for number in numbers)

    game = Checkers()
    game._states = [State((squares(black), squares(white)), squares(kings), turn, 0)]
    game._keys = [game._states[0].key()]
    return game


def texts(game):
    return [game.text(move) for move in game.moves()]


def test_perft_matches_known_values():
    assert [perft(Checkers(), depth) for depth in range(1, 7)] == [7, 49, 302, 1469, 7361, 36768]


def test_capture_is_forced_and_must_be_completed():
    game = position(black=(10, 1), white=(15, 24))
    assert texts(game) == ["10x19x28"]
    game.play(game.moves()[0])
    assert game.men(1) == 0
    assert game.outcome() == 1


def test_any_of_several_captures_may_be_chosen():
    game = position(black=(10,), white=(14, 15, 24))
    assert sorted(texts(game)) == ["10x17", "10x19x28"]


def test_a_man_captures_forwards_only_and_a_king_both_ways():
    assert texts(position(black=(18,), white=(14,))) == ["18-22", "18-23"]
    assert texts(position(black=(18,), white=(14,), kings=(18,))) == ["18x9"]


def test_king_capture_may_end_on_its_starting_square():
    game = position(black=(2,), white=(6, 7, 14, 15), kings=(2,))
    assert sorted(texts(game)) == ["2x11x18x9x2", "2x9x18x11x2"]
    game.play(game.moves()[0])
    assert game.kings(0) == _BITS[2]
    assert game.outcome() == 1


def test_capture_ends_when_a_man_is_crowned():
    game = position(black=(22,), white=(26, 27, 12))
    assert texts(game) == ["22x31"]
    game.play(game.moves()[0])
    assert game.kings(0) == _BITS[31]
    game.undo()
    assert game.kings(0) == 0


def test_blocked_player_loses():
    game = position(black=(5,), white=(9, 14))
    assert game.moves() == []
    assert game.outcome() == -1


def test_threefold_repetition_is_a_draw():
    game = position(black=(1,), white=(32,), kings=(1, 32))
    for _ in range(2):
        assert game.outcome() is None
        for text in ("1-6", "32-27", "6-1", "27-32"):
            game.play(parse_move(game, text))
    assert game.outcome() == 0
    assert game.moves() == []
    game.undo()
    assert game.outcome() is None


def test_forty_moves_without_progress_are_a_draw():
    game = position(black=(1,), white=(32, 21), kings=(1, 32))
    game._states[0] = game._states[0]._replace(quiet=79)
    game.play(parse_move(game, "1-6"))
    assert game.outcome() == 0


def test_moving_a_man_counts_as_progress():
    game = position(black=(1, 12), white=(32,), kings=(1, 32))
    game._states[0] = game._states[0]._replace(quiet=79)
    game.play(parse_move(game, "12-16"))
    assert game.outcome() is None


def test_moves_are_classified():
    game = position(black=(10,), white=(15, 27))
    assert game.move_class((10, 19)) == MoveClass.CAPTURE
    game = position(black=(6,), white=(14,), kings=(6,))
    classes = {game.text(move): game.move_class(move) for move in game.moves()}
    assert classes["6-10"] == MoveClass.THREAT
    assert classes["6-1"] == MoveClass.BACKWARD
    game = position(black=(6,), white=(31,))
    assert {game.move_class(move) for move in game.moves()} == {MoveClass.FORWARD}


def test_evaluation_counts_kings_more():
    assert evaluate(position(black=(14,), white=(18,), kings=(14,))) > 0
    assert evaluate(position(black=(14,), white=(18,), kings=(14,), turn=1)) < 0
    assert evaluate(Checkers()) == pytest.approx(0)


def test_continuation_search_sees_a_hanging_man():
    game = position(black=(1, 10), white=(19, 28))
    game.play((10, 15))
    value = AlphaBeta(evaluate, AlphaBetaOptions(continuation=True)).search(game, 0).value
    assert evaluate(game) < 0.01 < 0.03 < value
