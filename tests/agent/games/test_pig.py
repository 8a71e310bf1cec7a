import pytest

from agent.game import CHANCE, find_move
from agent.games.pig import Pig, evaluate


def played(*moves, target=100):
    game = Pig(target)
    for move in moves:
        game.play(find_move(game, move))
    return game


def test_a_turn():
    game = played("roll")
    assert game.turn == CHANCE
    game.play("5")
    assert (game.turn, game.state.rolled) == (0, 5)
    game = played("roll", "5", "roll", "6", "hold")
    assert game.state.scores == (11, 0)
    assert game.turn == 1


def test_a_one_loses_the_turn():
    game = played("roll", "5", "roll", "1")
    assert game.state.scores == (0, 0)
    assert game.turn == 1


def test_the_target_wins_only_when_held():
    game = played("roll", "1", "roll", "6", target=6)
    assert game.outcome() is None
    game.play("hold")
    assert game.outcome() == -1
    assert game.moves() == []


def test_evaluation_is_the_movers_lead():
    assert evaluate(played("roll", "6", "hold")) < 0
    assert evaluate(played("roll", "6")) > 0


def test_board_as_text():
    assert str(played("roll", "6", "roll")) == "0:0, player 0 has 6 in this turn, rolls"


def test_no_game_without_points():
    with pytest.raises(ValueError, match="target of 0"):
        Pig(0)
