"""Test the rules of the games with hidden information, and what their players know."""

import re

import pytest

from agent.game import CHANCE
from agent.games.hidden.hidden_game import HiddenInformationGame
from agent.games.hidden.kuhn_poker import KuhnPoker
from agent.games.hidden.liars_dice import LiarsDice


def positions(game):
    """Generate all positions of a game. At the end it is at its start again."""
    yield game
    for move in game.moves():
        game.play(move)
        yield from positions(game)
        game.undo()


def played(game, moves):
    for move in moves.split():
        assert move in game.moves()
        game.play(move)
    return game


@pytest.mark.parametrize(
    ("moves", "profit"),
    [
        ("KJ pass pass", 1),
        ("QK pass pass", -1),
        ("KJ bet bet", 2),
        ("JQ bet bet", -2),
        ("JK bet pass", 1),
        ("KJ pass bet pass", -1),
        ("KQ pass bet bet", 2),
        ("JQ pass bet bet", -2),
    ],
)
def test_kuhn_poker_pays_the_winner(moves, profit):
    game = played(KuhnPoker(), moves)
    assert (game.outcome(), game.moves()) == (profit, [])


@pytest.mark.parametrize(
    ("moves", "outcome"),
    [
        ("13 1x1 liar", 1),  # there is a 1
        ("13 1x2 liar", -1),
        ("33 1x3 2x3 liar", -1),  # the second player bid, and there are two
        ("13 1x3 2x3 liar", 1),
        ("22 1x1 1x2 2x2 liar", 1),
    ],
)
def test_bidder_in_liars_dice_wins_if_the_bid_is_true(moves, outcome):
    assert played(LiarsDice(), moves).outcome() == outcome


@pytest.mark.parametrize("game", [KuhnPoker(), LiarsDice(2)], ids=["kuhn-poker", "liars-dice"])
def test_hidden_games_keep_the_rules_of_every_game(game):
    assert isinstance(game, HiddenInformationGame)
    assert game.turn == CHANCE
    assert sum(chance for _, chance in game.chance_outcomes()) == pytest.approx(1)
    keys, moves = set(), {}
    for position in positions(game):
        keys.add(position.key())
        assert (position.outcome() is None) == bool(position.moves())
        if position.outcome() is None and position.turn != CHANCE:
            known = position.turn, position.information()
            assert moves.setdefault(known, position.moves()) == position.moves()
    assert len(keys) == sum(1 for _ in positions(game))


def test_players_know_their_own_card_only():
    assert played(KuhnPoker(), "QK").information() == "Q"
    assert played(KuhnPoker(), "QK pass").information() == "K pass"
    assert played(KuhnPoker(), "QK pass bet").information() == "Q pass bet"
    assert played(LiarsDice(), "13 1x2").information() == "3 1x2"


def test_a_bid_must_be_higher():
    assert played(LiarsDice(), "13 1x3").moves() == ["2x1", "2x2", "2x3", "liar"]
    assert played(LiarsDice(), "13").moves() == ["1x1", "1x2", "1x3", "2x1", "2x2", "2x3"]
    assert played(LiarsDice(), "13 2x3").moves() == ["liar"]


def test_dice_need_two_to_six_sides():
    with pytest.raises(ValueError, match=re.escape("sides must be from 2 to 6 (got 7)")):
        LiarsDice(7)
