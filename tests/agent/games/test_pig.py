import pytest

from agent.game import CHANCE, parse_move
from agent.games.pig import Pig, evaluate


def played(*moves, target=100):
    game = Pig(target)
    for move in moves:
        game.play(parse_move(game, move))
    return game


def test_hold_adds_the_turns_rolls_to_the_score():
    game = played("roll")
    assert game.turn == CHANCE
    game.play("5")
    assert (game.turn, game.state.rolled) == (0, 5)
    game = played("roll", "5", "roll", "6", "hold")
    assert game.state.scores == (11, 0)
    assert game.turn == 1


def test_rolling_a_one_ends_the_turn_without_points():
    game = played("roll", "5", "roll", "1")
    assert game.state.scores == (0, 0)
    assert game.turn == 1


def test_target_score_wins_only_after_hold():
    game = played("roll", "1", "roll", "6", target=6)
    assert game.outcome() is None
    game.play("hold")
    assert game.outcome() == -1
    assert game.moves() == []


def test_evaluation_is_from_the_movers_view():
    assert evaluate(played("roll", "6", "hold")) < 0
    assert evaluate(played("roll", "6")) > 0


def test_board_as_text():
    assert str(played("roll", "6", "roll")) == "0:0, player 0 has 6 in this turn, rolls"


def test_rejects_a_target_of_zero():
    with pytest.raises(ValueError, match=r"target must be at least 1 .got 0"):
        Pig(0)
