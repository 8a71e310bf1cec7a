import pytest

from agent.games import catalogue as games
from agent.games.random_tree import RandomTree
from agent.games.tree import Tree
from agent.games.tree import evaluate as no_evaluation
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions, ExtensionRule
from agent.search.algorithms.mcts import UCT
from agent.search.algorithms.minimax import Minimax
from agent.search.catalogue import algorithm, algorithms
from agent.search.depth_schedule import depths, search_depths, time_limit
from agent.search.stats import SearchStopped
from agent.search.transposition_table import TranspositionTable
from tests.support import searching

ALL = algorithms()


def test_levels_lists_all_even_or_odd_depths():
    assert list(depths(4)) == [1, 2, 3, 4]
    assert list(depths(6, "even")) == [2, 4, 6]
    assert list(depths(6, "odd")) == [1, 3, 5]
    with pytest.raises(ValueError, match=r"no even depth up to 1 .depth must be at least 2"):
        depths(1, "even")


@pytest.mark.thorough(keep=3)
@pytest.mark.parametrize("name", [name for name in ALL if ALL[name].exact])
def test_iterative_deepening_ends_with_the_minimax_value(name):
    game = games.new_game("connect-four")
    evaluate = games.evaluation("connect-four")
    *_, last = search_depths(algorithm(name)(evaluate), game, 4, "even")
    assert last.depth == 4
    assert last.found.value == Minimax(evaluate).search(game, 4).value


@pytest.mark.parametrize("name", ALL)
def test_every_algorithm_deepens_within_its_node_limit(name):
    game = RandomTree(3, 6, seed=1)
    options = {"playouts": 5} if issubclass(ALL[name], UCT) else {}
    search = searching(name, no_evaluation, node_limit=300, **options)
    found = list(search_depths(search, game, 6))
    assert 1 <= len(found) <= 6
    assert search.counts.nodes <= 300
    assert game.key() == ()


@pytest.mark.thorough(keep=6)
@pytest.mark.parametrize("name", ALL)
def test_every_algorithm_stops_on_time(name):
    """Without the limit this takes hours. Afterwards the game is at its start again."""
    options = {"playouts": 10**9} if issubclass(ALL[name], UCT) else {}
    game = games.new_game("othello")
    key = game.key()
    search = searching(name, games.evaluation("othello"), **options)
    with time_limit(search, 0.2):
        try:
            search.search(game, 60)
        except SearchStopped:
            pass
        else:
            others = ("b-star", "and-or", "minimax-two-valued")
            assert name in others or issubclass(ALL[name], UCT)
    assert game.key() == key


def test_selected_leaves_are_searched_deeper():
    """The first move looks best until its leaf is extended."""
    tree = Tree([[[1, 2]], [[5, 6]]])
    values = {(1, 1): 9, (2, 1): 3}

    def evaluate(game):
        return values[game.key()]

    assert AlphaBeta(evaluate).search(tree, 2).move == 1
    selected = AlphaBeta(
        evaluate, AlphaBetaOptions(beyond=ExtensionRule(1, lambda game: game.key() == (1, 1)))
    )
    found = selected.search(tree, 2)
    assert (found.value, found.pv) == (3, (2, 1))
    everything = AlphaBeta(evaluate, AlphaBetaOptions(beyond=ExtensionRule(1, lambda game: True)))
    assert everything.search(tree, 2).value == 6


def test_large_swing_extends_the_search():
    tree = Tree([[[1, 2]], [[5, 6]]])
    values = {(1,): 0, (2,): 0, (1, 1): 9, (2, 1): 3}
    search = AlphaBeta(
        lambda game: values[game.key()], AlphaBetaOptions(beyond=ExtensionRule(1, swing=5))
    )
    found = search.search(tree, 2)
    assert (found.value, found.move) == (3, 2)


@pytest.mark.parametrize("name", ["alpha-beta", "pvs", "negascout-1", "negascout-2"])
def test_extending_all_leaves_equals_a_deeper_search(name):
    for seed in range(20):
        tree = RandomTree(3, 5, seed)
        search = searching(name, no_evaluation, beyond=ExtensionRule(2, lambda game: True))
        assert search.search(tree, 3).value == Minimax(no_evaluation).search(tree, 5).value


@pytest.mark.parametrize("name", ["alpha-beta", "pvs", "negascout-2", "bns", "null-move"])
def test_counts_table_entries_and_hits(name):
    search = searching(name, games.evaluation("connect-four"), table=TranspositionTable())
    search.search(games.new_game("connect-four"), 4)
    assert search.counts.peak_open == len(search.table) > 0
    assert search.counts.table_hits > 0
