import pytest

from agent.games import catalogue as games
from agent.games.tic_tac_toe import TicTacToe
from agent.games.tree import Tree
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions
from agent.search.algorithms.minimax import Minimax
from agent.search.beam_limited_game import BeamLimitedGame
from agent.search.transposition_table import TranspositionTable

evaluate = games.evaluation("tic-tac-toe")


def shape(game, depth):
    """Return the beam widths as nested lists."""
    if depth == 0:
        return game.beam_width
    children = []
    for move in game.moves():
        game.play(move)
        children.append(shape(game, depth - 1))
        game.undo()
    return children


def test_branching_factor_falls_with_move_rank():
    assert shape(BeamLimitedGame(TicTacToe(), evaluate, 4), 1) == [3, 2, 1, 1]
    assert shape(BeamLimitedGame(TicTacToe(), evaluate, 4), 2) == [[2, 1, 1], [1, 1], [1], [1]]


def test_keeps_the_most_promising_moves():
    game = BeamLimitedGame(TicTacToe(), evaluate, 1)
    assert game.moves() == [4]
    game.play(4)
    assert evaluate(game.game) == min(evaluate(other) for other in played_once(TicTacToe()))


def played_once(game):
    for move in game.moves():
        game.play(move)
        yield game
        game.undo()


def test_a_wide_factor_prunes_nothing():
    game = TicTacToe()
    for depth in range(5):
        pruned = Minimax(lambda pruned: evaluate(pruned.game)).search(
            BeamLimitedGame(game, evaluate, 99), depth
        )
        assert pruned.value == Minimax(evaluate).search(game, depth).value


def test_alpha_beta_with_table_equals_minimax_on_a_pruned_game():
    plain = Minimax(lambda pruned: evaluate(pruned.game))
    table = AlphaBeta(
        lambda pruned: evaluate(pruned.game), AlphaBetaOptions(table=TranspositionTable())
    )
    game = BeamLimitedGame(TicTacToe(), evaluate, 5)
    assert table.search(game, 6).value == plain.search(game, 6).value
    assert table.counts.nodes < plain.counts.nodes


def test_finished_positions_rank_by_their_outcome():
    tree = Tree([[3, 4], 7, 5])
    assert BeamLimitedGame(tree, lambda game: 0, 2).moves() == [2, 3]


def test_rejects_a_factor_of_zero():
    with pytest.raises(ValueError, match=r"factor must be at least 1 .got 0"):
        BeamLimitedGame(TicTacToe(), evaluate, 0)
