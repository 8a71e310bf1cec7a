"""Positions of board games as text, and games that begin at them."""

from random import Random

import pytest

from agent.games import catalogue
from agent.games.position_text import (
    complete_options,
    format_position,
    options_for,
    parse_position,
    supports_setup,
)

BOARDS = [
    ("othello", {}),
    ("othello", {"size": 6}),
    ("checkers", {}),
    ("connect-four", {}),
    ("connect-four", {"width": 12, "height": 5}),
    ("tic-tac-toe", {"size": 4}),
]
XO = ("X", "O")


def test_games_that_support_setup():
    found = {name for name in catalogue.builtin_names() if supports_setup(catalogue.find(name))}
    assert found == {"checkers", "connect-four", "othello", "tic-tac-toe"}


@pytest.mark.parametrize(("name", "options"), BOARDS)
def test_game_begins_at_any_position_of_another_game(name, options):
    """The history is lost: the draw by repetition in checkers is not part of a position."""
    game_type, random = catalogue.find(name), Random(name)
    for _ in range(10):
        game = game_type.new(**options)
        while moves := list(game.moves()):
            text = game.position()
            copy = game_type.new(**options_for(game_type, text))
            assert (copy.position(), str(copy)) == (text, str(game))
            assert (copy.turn, copy.outcome()) == (game.turn, game.outcome())
            assert list(copy.moves()) == moves
            move = random.choice(moves)
            copy.play(move)
            game.play(move)
            assert copy.position() == game.position()
            copy.undo()
            assert copy.position() == text
        if game.outcome() or name != "checkers":
            end = game_type.new(**options_for(game_type, game.position()))
            assert (end.outcome(), list(end.moves())) == (game.outcome(), [])


@pytest.mark.parametrize(("name", "options"), BOARDS)
def test_empty_position_is_the_initial_one(name, options):
    game_type = catalogue.find(name)
    assert game_type.new(**options, position="").position() == game_type.new(**options).position()


def test_numbers_stand_for_empty_squares():
    assert parse_position("12/X10O/.11 O", XO) == (["." * 12, "X..........O", "." * 12], 1)
    assert format_position(["." * 12, " X........O.."], 0, XO) == "12/1X8O2 X"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"position: invalid \(expected text such as '2/2 X'\)"),
        ("3/3/3", "position: invalid"),
        (7, "position: invalid"),
        (f"{'9/' * 500}9 X", "position: invalid"),
        ("3/3/3 Z", r"position: unknown side to move 'Z' \(expected one of: X, O\)"),
        ("3/3/2b O", r"position: unknown piece 'b' \(expected one of: X, O\)"),
        ("3/4/3 X", "all rows must have the same number of squares"),
    ],
)
def test_invalid_text_is_rejected(text, message):
    with pytest.raises(ValueError, match=message):
        parse_position(text, XO)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("othello", "6/6/6/6/6/6 X", "the board has 6 columns and 6 rows .expected 8 and 8"),
        ("othello", 8, "position: invalid"),
        ("tic-tac-toe", "XX1/3/3 O", "2 pieces X and 0 pieces O with O to move"),
        ("tic-tac-toe", "XXX/OO1/3 X", "3 pieces X and 2 pieces O with X to move"),
        ("tic-tac-toe", "XXX/OOO/3 X", "the side to move has already won"),
        ("connect-four", "7/7/7/7/X6/7 O", "empty square below a disc in column 1"),
        ("connect-four", "7/7/7/7/OOO4/XXXX3 X", "4 pieces X and 3 pieces O with X to move"),
        ("connect-four", "7/7/7/7/OOOO3/XXXX3 X", "the side to move has already won"),
        ("checkers", "8/8/8/8/8/8/8/b7 w", "man on square 29 .must be a king"),
        ("checkers", "1w6/8/8/8/8/8/8/8 b", "man on square 1 .must be a king"),
        ("checkers", "b7/8/8/8/8/8/8/8 b", "piece on a light square in row 1"),
        ("checkers", "1B1B1B1B/B1B1B1B1/1B1B1B1B/B7/8/8/8/8 b", "more than 12 pieces of a player"),
    ],
)
def test_impossible_position_is_rejected(name, text, message):
    with pytest.raises(ValueError, match=message):
        catalogue.new_game(name, position=text)


def test_complete_options_leave_out_an_empty_position():
    """Games that do not use the option are recorded as before."""
    game_type = catalogue.find("tic-tac-toe")
    assert complete_options(game_type, {}) == {"size": 3}
    position = "3/3/2X O"
    assert complete_options(game_type, {"position": position}) == {"size": 3, "position": position}
