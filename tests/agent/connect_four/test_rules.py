"""The compiled rules agree with the plain game."""

from random import Random

import pytest

from agent.connect_four.parts import fits
from agent.connect_four.rules import DiscBoard
from agent.games.connect_four import ConnectFour
from agent.games.perft import perft

# Including boards with few columns, few rows, and maximum size.
SIZES = [(7, 6), (4, 4), (1, 5), (5, 1), (3, 7), (2, 20), (1, 61), (20, 2), (7, 7), (6, 9)]


def random_game(random: Random, width: int = 7, height: int = 6) -> ConnectFour:
    """Return an unfinished position after random moves."""
    game = ConnectFour(width, height)
    for _ in range(random.randrange(width * height)):
        game.play(random.choice(game.moves()))
        if game.outcome() is not None:
            game.undo()
            break
    return game


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_perft_equals_the_plain_game(width: int, height: int) -> None:
    random = Random(f"{width}x{height}")
    board = DiscBoard()
    for _ in range(30):
        game = random_game(random, width, height)
        board.load(game)
        for depth in range(5 if width < 10 else 3):
            assert board.perft(depth) == perft(game, depth)


def test_perft_from_the_start_matches_known_values() -> None:
    board = DiscBoard()
    board.load(ConnectFour())
    assert [board.perft(depth) for depth in (7, 8, 9)] == [823536, 5673234, 39394572]


def test_rejects_a_board_that_is_too_large() -> None:
    game = ConnectFour(9, 6)
    assert not fits(game)
    with pytest.raises(ValueError, match="9 by 6 has too many squares"):
        DiscBoard().load(game)


def test_squares_and_empty_squares_match_the_plain_game() -> None:
    random, board = Random(1), DiscBoard()
    for _ in range(20):
        game = random_game(random)
        board.load(game)
        before = game.discs(0) | game.discs(1)
        assert board.empty_squares() == 42 - before.bit_count()
        for move in game.moves():
            game.play(move)
            assert board.landing_squares([move]) == before ^ (game.discs(0) | game.discs(1))
            game.undo()
