import pytest

from agent.games.grundy import Grundy, evaluate, grundy_value
from agent.games.tree import evaluate as no_evaluation
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions
from agent.search.transposition_table import TranspositionTable

VALUES = "0 0 0 1 0 2 1 0 2 1 0 2 1 3 2 1 3 2 4 3 0 4 3 0 4 3 0 4 1 2 3"
LOST = [0, 1, 2, 4, 7, 10, 20, 23, 26, 50, 53]


def test_grundy_values_match_known_values():
    assert [grundy_value(counters) for counters in range(31)] == [int(v) for v in VALUES.split()]


def test_heaps_with_value_zero_match_the_known_list():
    assert [counters for counters in range(60) if grundy_value(counters) == 0] == LOST


def test_search_agrees_with_grundy_theory():
    for counters in range(1, 16):
        game = Grundy(counters)
        value = (
            AlphaBeta(no_evaluation, AlphaBetaOptions(table=TranspositionTable()))
            .search(game, 99)
            .value
        )
        assert (value > 0) == (evaluate(game) > 0) == (counters not in LOST)


def test_heaps_split_into_unequal_parts():
    game = Grundy(7)
    assert [game.text(move) for move in game.moves()] == ["7=6+1", "7=5+2", "7=4+3"]
    game.play(next(game.moves()))
    assert game.heaps == (6, 1)
    assert str(game) == "6 1"
    game.undo()
    assert game.heaps == (7,)


def test_rejects_an_empty_heap():
    with pytest.raises(ValueError, match=r"counters must be at least 1 .got 0"):
        Grundy(0)
