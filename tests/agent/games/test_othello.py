import pytest

from agent.game import parse_move
from agent.games.othello import PASS, Othello, evaluate
from agent.games.perft import perft
from agent.games.tree import evaluate as no_evaluation
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions
from agent.search.transposition_table import TranspositionTable


def played(*moves, size=8):
    game = Othello(size)
    for move in moves:
        game.play(parse_move(game, move))
    return game


@pytest.mark.thorough
def test_perft_matches_known_values():
    counts = [perft(Othello(), depth) for depth in range(1, 8)]
    assert counts == [4, 12, 56, 244, 1396, 8200, 55_092]


def test_start_has_the_four_standard_moves():
    game = Othello()
    assert [game.text(move) for move in game.moves()] == ["d3", "c4", "f5", "e6"]
    game.play(parse_move(game, "d3"))
    assert (game.discs(0).bit_count(), game.discs(1).bit_count()) == (4, 1)


def test_shortest_game_is_won_by_13_discs():
    game = played("e6", "f4", "e3", "f6", "g5", "d6", "e7", "f5", "c5")
    assert game.outcome() == 13
    assert list(game.moves()) == []


def test_player_must_pass_without_an_enclosing_move():
    passes = 0

    def below(game):
        nonlocal passes
        moves = game.moves()
        if moves == [PASS]:
            passes += 1
            discs = game.discs(0), game.discs(1)
            game.play(PASS)
            assert (game.discs(0), game.discs(1)) == discs
            assert game.outcome() is None
            game.undo()
            return
        for move in moves[:2]:
            game.play(move)
            below(game)
            game.undo()

    below(Othello(4))
    assert passes > 0


def test_first_player_loses_4x4_by_eight_discs():
    search = AlphaBeta(no_evaluation, AlphaBetaOptions(table=TranspositionTable()))
    assert search.search(Othello(4), 99).value == -8


def test_evaluation_favours_corners():
    game = Othello(4)
    while not game.corners(0) + game.corners(1):
        game.play(game.moves()[0])
    assert abs(evaluate(game)) >= 8 - 12
    assert (evaluate(game) > 0) == (game.corners(game.turn) > 0)


def test_board_as_text():
    assert str(Othello(4)) == ". . . .\n. O X .\n. X O .\n. . . ."


@pytest.mark.parametrize("size", [0, 2, 5])
def test_rejects_odd_and_tiny_boards(size):
    with pytest.raises(ValueError, match=rf"board size must be .* \(got {size}\)"):
        Othello(size)
