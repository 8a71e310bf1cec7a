"""Properties of every exact algorithm. A new file in agent/search is found automatically."""

from random import Random

import pytest

from agent.game import ChanceGame
from agent.games import catalogue as games
from agent.games.random_tree import RandomTree
from agent.games.tic_tac_toe import PATTERNS
from agent.games.tree import Tree
from agent.games.tree import evaluate as no_evaluation
from agent.search.algorithms.minimax import Minimax
from agent.search.catalogue import algorithm, algorithms
from agent.search.move_ordering import Ordering
from agent.search.patterns import Patterns
from agent.search.stats import SearchStopped
from tests.support import searching, small_game

EXACT = [name for name, search in algorithms().items() if search.exact]
WITHOUT_CHANCE = [
    name for name in games.builtin_names() if not isinstance(games.new_game(name), ChanceGame)
]
# Search depth of each game, from its start and from two later positions.
DEPTHS = {
    "checkers": 3,
    "chess": 2,
    "connect-four": 3,
    "go": 3,
    "nim": 4,
    "othello": 3,
    "tic-tac-toe": 4,
}


def variation_value(game, pv, evaluate):
    """Return the value of the position after a variation, for the mover at its beginning."""
    sign = 1
    for move in pv:
        assert move in list(game.moves())
        game.play(move)
        sign = -sign
    outcome = game.outcome()
    value = evaluate(game) if outcome is None else -outcome if game.turn else outcome
    for _ in pv:
        game.undo()
    return sign * value


MINIMAX = {}


def assert_like_minimax(search, name, game, depth):
    """Compare with minimax, which is cached by name (game and evaluation), position and depth."""
    key = game.key()
    if (name, key, depth) not in MINIMAX:
        MINIMAX[name, key, depth] = Minimax(search.evaluate).search(game, depth).value
    expected = MINIMAX[name, key, depth]
    found = search.search(game, depth)
    assert found.value == expected
    assert variation_value(game, found.pv, search.evaluate) == expected
    assert game.key() == key


def test_catalogue_contains_all_algorithms():
    assert set(algorithms()) >= {
        "alpha-beta",
        "alpha-beta-hard",
        "and-or",
        "b-star",
        "bns",
        "dual-star",
        "dual-star-mtd",
        "expectiminimax",
        "minimax",
        "minimax-two-valued",
        "mtd-f",
        "negamax",
        "negascout-1",
        "negascout-2",
        "pvs",
        "scout",
        "sss-star",
        "sss-star-mtd",
    }


def test_unknown_algorithm_is_rejected_by_name():
    with pytest.raises(ValueError, match=r"unknown algorithm 'sss' .expected one of: alpha-beta, "):
        algorithm("sss")


@pytest.mark.parametrize("name", EXACT)
class TestEveryExactAlgorithm:
    def test_equals_minimax_on_random_trees(self, name, thorough):
        random = Random(5)
        search = algorithm(name)(no_evaluation)
        for seed in range(120 if thorough else 60):
            depth = random.randint(0, 5)
            tree = RandomTree(random.randint(1, 4), depth, seed)
            assert_like_minimax(search, f"random tree {seed}", tree, depth)

    def test_equals_minimax_with_equal_leaves_and_uneven_depth(self, name, thorough):
        random = Random(6)

        def grow(depth):
            if depth == 0 or random.random() < 0.15:
                return random.randint(0, 4)
            return [grow(depth - 1) for _ in range(random.randint(1, 4))]

        search = algorithm(name)(no_evaluation)
        for number in range(150 if thorough else 75):
            assert_like_minimax(search, f"tree {number}", Tree(grow(5)), 5)

    @pytest.mark.thorough(keep=50)
    @pytest.mark.parametrize("game_name", WITHOUT_CHANCE)
    def test_equals_minimax_on_every_game(self, name, game_name):
        random = Random(7)
        depth = DEPTHS.get(game_name, 4)
        search = algorithm(name)(games.evaluation(game_name))
        game = small_game(game_name)
        assert_like_minimax(search, game_name, game, depth)
        for _ in range(2):
            for _ in range(random.randint(1, 6)):
                moves = list(game.moves())
                if moves:
                    game.play(random.choice(moves))
            assert_like_minimax(search, game_name, game, depth)

    def test_equals_minimax_with_move_ordering(self, name):
        evaluate = games.evaluation("connect-four")
        ordering = Ordering(ratings=True, killers=True, history=True, successors=evaluate)
        search = searching(name, evaluate, ordering=ordering)
        assert_like_minimax(search, "connect-four", games.new_game("connect-four"), 3)

    @pytest.mark.thorough(keep=10)
    @pytest.mark.parametrize("game_name", ["checkers", "chess", "tic-tac-toe"])
    def test_equals_minimax_twice_with_every_ordering_technique(self, name, game_name):
        """The second search uses what the first one learned, and has the same value."""
        evaluate, game = games.evaluation(game_name), small_game(game_name)
        ordering = Ordering(
            ratings=True,
            classes=True,
            killers=True,
            history=True,
            last_turn=True,
            successors=evaluate,
            preliminary=2,
            patterns=Patterns(PATTERNS),
            refutations={},
        )
        search = searching(name, evaluate, ordering=ordering)
        for _ in range(2):
            assert_like_minimax(search, game_name, game, DEPTHS.get(game_name, 3))

    def test_stopping_restores_the_game(self, name):
        game = RandomTree(3, 6, seed=1)
        search = searching(name, no_evaluation, node_limit=50)
        with pytest.raises(SearchStopped):
            search.search(game, 6)
        assert search.counts.nodes == 50
        assert game.key() == ()
        search = algorithm(name)(no_evaluation)
        search.stopped = True
        with pytest.raises(SearchStopped):
            search.search(game, 6)

    def test_evaluation_error_restores_the_game(self, name):
        game = games.new_game("othello")
        before = game.key()
        calls = 0

        def breaks(game):
            nonlocal calls
            calls += 1
            if calls == 5:
                raise ZeroDivisionError("broken")
            return 0

        with pytest.raises(ZeroDivisionError):
            algorithm(name)(breaks).search(game, 3)
        assert game.key() == before

    def test_counts_nodes_leaves_and_cutoffs(self, name):
        search = algorithm(name)(no_evaluation)
        search.search(RandomTree(3, 4, seed=2), 4)
        counts = search.counts
        assert 3**2 + 3**2 - 1 <= counts.leaves <= counts.nodes
        assert counts.seldepth == 4
        whole_trees = {"minimax", "negamax", "expectiminimax"}
        assert (counts.cutoffs > 0) == (name not in whole_trees)
        if name.startswith(("sss", "dual", "mtd")):
            assert 0 < counts.peak_open <= counts.nodes
        search.reset_stats()
        assert search.counts.nodes == 0
