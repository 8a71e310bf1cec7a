"""Algorithms that find a best move or the winner, but not the minimax value."""

from math import inf
from random import Random

import pytest

from agent.games.grundy import Grundy
from agent.games.grundy import evaluate as evaluate_grundy
from agent.games.nim import Nim
from agent.games.nim import evaluate as evaluate_nim
from agent.games.random_tree import RandomTree
from agent.games.tic_tac_toe import TicTacToe
from agent.games.tree import Tree, evaluate
from agent.search.algorithms.alpha_beta import AlphaBeta
from agent.search.algorithms.and_or import AndOr
from agent.search.algorithms.b_star import BStar, BStarOptions
from agent.search.algorithms.best_node_search import BestNodeOptions, BestNodeSearch
from agent.search.algorithms.minimax import Minimax, WinLossMinimax
from agent.search.stats import SearchStopped
from agent.search.transposition_table import TranspositionTable

NIM_HEAPS = [(1,), (2, 2), (1, 2, 3), (1, 2, 4), (3, 3, 1), (2, 3, 4)]


def won_games():
    """Yield small games that are won or lost, with whether the mover wins."""
    for misere in (False, True):
        for heaps in NIM_HEAPS:
            game = Nim(heaps, misere)
            yield game, evaluate_nim(game) > 0
    for counters in range(3, 11):
        game = Grundy(counters)
        yield game, evaluate_grundy(game) > 0


def random_trees(count):
    random = Random(11)
    for seed in range(count):
        depth = random.randint(1, 5)
        yield RandomTree(random.randint(2, 4), depth, seed), depth


def test_two_valued_minimax_finds_the_winner_with_fewer_nodes():
    fewer = 0
    for game, wins in won_games():
        search, whole = WinLossMinimax(evaluate), Minimax(evaluate)
        assert (search.search(game, 99).value > 0) == wins
        whole.search(game, 99)
        fewer += search.counts.nodes < whole.counts.nodes
    assert fewer > 10


def test_two_valued_minimax_plays_a_winning_line():
    found = WinLossMinimax(evaluate).search(Nim([1, 2, 4]), 99)
    game = Nim([1, 2, 4])
    for move in found.pv:
        game.play(move)
    assert found.value > 0
    assert game.outcome() == 1


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("table", [False, True])
def test_best_node_search_finds_the_best_move(table):
    for game, depth in random_trees(400):
        search = BestNodeSearch(
            evaluate, BestNodeOptions(table=TranspositionTable() if table else None)
        )
        exact = AlphaBeta(evaluate).search(game, depth)
        found = search.search(game, depth)
        assert found.move == exact.move
        assert found.value <= exact.value
        assert game.key() == ()


def test_best_node_search_finds_one_of_equal_best_moves():
    random = Random(12)
    for _ in range(200):
        game = Tree([[random.randint(0, 2) for _ in range(3)] for _ in range(3)])
        best = Minimax(evaluate).search(game, 2).value
        move = BestNodeSearch(evaluate).search(game, 2).move
        game.play(move)
        assert Minimax(evaluate).search(game, 1).value == -best


def test_best_node_search_returns_no_move_in_a_finished_game():
    assert BestNodeSearch(evaluate).search(Tree(7), 3).pv == ()


def true_bounds(slack, seed):
    """Return a function with bounds around the exact value, each off by up to `slack`."""

    def bounds(game):
        exact = AlphaBeta(evaluate).search(game, 99).value
        noise = Random(f"{seed} {game.key()}")
        return exact - noise.uniform(0, slack), exact + noise.uniform(0, slack)

    return bounds


@pytest.mark.parametrize("strategy", ["prove-best", "disprove-rest", "widest"])
class TestBStar:
    def test_finds_the_best_move_within_valid_bounds(self, strategy):
        for seed, (game, depth) in enumerate(random_trees(100)):
            search = BStar(evaluate, BStarOptions(bounds=true_bounds(30, seed), strategy=strategy))
            exact = AlphaBeta(evaluate).search(game, depth)
            found = search.search(game, depth)
            assert found.move == exact.move
            assert found.value <= exact.value
            assert game.key() == ()

    def test_finds_the_best_move_without_bounds(self, strategy):
        for game, depth in random_trees(60):
            exact = AlphaBeta(evaluate).search(game, depth)
            assert (
                BStar(evaluate, BStarOptions(strategy=strategy)).search(game, depth).move
                == exact.move
            )

    def test_tight_bounds_save_nodes(self, strategy):
        game = RandomTree(3, 5, seed=3)
        exact, none = (
            BStar(evaluate, BStarOptions(bounds=bounds, strategy=strategy))
            for bounds in (true_bounds(1, 0), None)
        )
        exact.search(game, 5)
        none.search(game, 5)
        assert exact.counts.nodes < none.counts.nodes / 2

    def test_uses_the_games_own_bounds(self, strategy):
        own, none = (
            BStar(evaluate, BStarOptions(bounds=bounds, strategy=strategy))
            for bounds in (None, lambda game: (-inf, inf))
        )
        game = TicTacToe()
        for move in (4, 0, 1):
            game.play(move)
        only = AlphaBeta(evaluate).search(game, 9).move
        for search in (own, none):
            assert search.search(game, 9).move == only
        assert own.counts.leaves < none.counts.leaves

    def test_terminates_with_bounds_that_contradict_the_leaves(self, strategy):
        search = BStar(evaluate, BStarOptions(bounds=lambda game: (-1, 1), strategy=strategy))
        assert search.search(RandomTree(3, 4, seed=1), 4).move is not None

    def test_position_of_known_value_still_returns_a_move(self, strategy):
        game = TicTacToe()
        for move in (0, 1, 2, 4, 3, 5, 7, 6):  # no line is open for either side
            game.play(move)
        assert game.bounds() == (0, 0)
        found = BStar(evaluate, BStarOptions(strategy=strategy)).search(game, 9)
        assert (found.value, found.move) == (0, 8)

    def test_terminates_with_equal_moves(self, strategy):
        assert (
            BStar(evaluate, BStarOptions(strategy=strategy)).search(Tree([[1, 1], [1, 1]]), 2).value
            == 1
        )

    def test_stops_and_errors_restore_the_game(self, strategy):
        game = RandomTree(3, 4, seed=1)
        with pytest.raises(SearchStopped):
            BStar(evaluate, BStarOptions(strategy=strategy, node_limit=20)).search(game, 4)
        assert game.key() == ()

        def broken(game):
            if len(game.key()) == 2:
                raise ZeroDivisionError
            return -inf, inf

        with pytest.raises(ZeroDivisionError):
            BStar(evaluate, BStarOptions(strategy=strategy, bounds=broken)).search(game, 4)
        assert game.key() == ()


def assert_wins(game, strategy, winner):
    """Check that every branch of a strategy ends in a win."""
    if game.outcome() is not None:
        assert not strategy.answers
        assert game.outcome() == (1 if winner == 0 else -1)
        return
    moves = list(game.moves())
    if game.turn == winner:
        assert len(strategy.answers) == 1
        assert set(strategy.answers) <= set(moves)
    else:
        assert set(strategy.answers) == set(moves)
    for move, answer in strategy.answers.items():
        game.play(move)
        assert_wins(game, answer, winner)
        game.undo()


def test_and_or_returns_a_strategy_only_for_won_games():
    for game, wins in won_games():
        search = AndOr(evaluate)
        assert (search.search(game, 99).value > 0) == wins
        assert (search.strategy is not None) == wins
        if wins:
            assert_wins(game, search.strategy, winner=0)


def test_and_or_solves_for_the_second_player():
    game = Grundy(7)
    assert AndOr(evaluate).search(game, 99).value < 0
    for move in list(game.moves()):
        game.play(move)
        search = AndOr(evaluate)
        assert search.search(game, 99).value > 0
        assert_wins(game, search.strategy, winner=1)
        game.undo()


def test_and_or_counts_a_draw_as_not_won():
    game = TicTacToe()
    for square in (4, 0):
        game.play(square)
    assert AndOr(evaluate).search(game, 99).value < 0


def test_strategy_for_a_one_move_game_has_two_nodes():
    search = AndOr(evaluate)
    found = search.search(Nim([2]), 9)
    assert found.pv == ((0, 2),)
    assert search.strategy.size() == 2
