from collections import Counter

import pytest

from agent.games.tic_tac_toe import TicTacToe, evaluate


def count(game):
    """Count nodes by ply, outcomes by utility and ply, positions, and symmetry classes."""
    nodes, ends, positions, classes = Counter(), Counter(), set(), set()

    def visit(ply):
        nodes[ply] += 1
        if game.key() not in positions:
            positions.add(game.key())
            classes.add(game.symmetric_key())
        outcome = game.outcome()
        if outcome is not None:
            assert not list(game.moves())
            ends[abs(outcome), ply] += 1
            return
        for move in game.moves():
            game.play(move)
            visit(ply + 1)
            game.undo()

    visit(0)
    return nodes, ends, positions, classes


@pytest.mark.thorough
def test_full_tree_counts_match_known_values():
    nodes, ends, positions, classes = count(TicTacToe())
    assert nodes.total() == 549_946
    assert ends.total() == 255_168
    assert [ends[1, ply] for ply in range(5, 10)] == [1440, 5328, 47_952, 72_576, 81_792]
    assert ends[0, 9] == 46_080
    assert len(positions) == 5_478
    assert len(classes) == 765


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(("square", "nodes"), [(0, 59_705), (1, 63_905), (4, 55_505)])
def test_opening_subtree_sizes_match_known_values(square, nodes):
    game = TicTacToe()
    game.play(square)
    assert count(game)[0].total() == nodes


def test_evaluation_counts_open_lines():
    game = TicTacToe()
    assert evaluate(game) == 0
    game.play(4)
    assert (game.open_lines(0), game.open_lines(1)) == (8, 4)
    game.play(1)
    assert (game.open_lines(0), game.open_lines(1)) == (6, 4)
    assert evaluate(game) > 0
    game.play(0)
    assert evaluate(game) < 0


def test_board_as_text():
    game = TicTacToe()
    for square in (4, 0):
        game.play(square)
    assert str(game) == "O . .\n. X .\n. . ."
    assert [game.text(square) for square in (0, 4, 8)] == ["a3", "b2", "c1"]


def test_four_in_a_row_wins_on_a_4x4_board():
    game = TicTacToe(4)
    for square in (0, 4, 1, 5, 2, 6):
        game.play(square)
        assert game.outcome() is None
    game.play(3)
    assert game.outcome() == 1
    game.undo()
    assert len(game.moves()) == 10


def test_rejects_a_board_without_squares():
    with pytest.raises(ValueError, match=r"board size must be at least 1 .got 0"):
        TicTacToe(0)
