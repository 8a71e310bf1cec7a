"""Every algorithm with few choices: one move, one line, or no move."""

from math import isfinite
from random import Random

import pytest

from agent.games.nim import Nim
from agent.games.tree import Tree, evaluate
from agent.search.algorithms.best_node_search import BestNodeOptions, BestNodeSearch
from agent.search.algorithms.mcts import UCT
from agent.search.algorithms.minimax import Minimax
from agent.search.algorithms.win_loss import WinLossSearch
from agent.search.catalogue import algorithm, algorithms
from tests.support import searching

BY_VALUE = [
    name for name, kind in algorithms().items() if not issubclass(kind, (UCT, WinLossSearch))
]


def only_moves(count):
    """Yield trees with a single move at the root."""
    random = Random(31)

    def grow(depth):
        if depth == 0 or random.random() < 0.2:
            return random.randint(-9, 9)
        return [grow(depth - 1) for _ in range(random.randint(1, 3))]

    for _ in range(count):
        yield [grow(random.randint(0, 4))]


@pytest.mark.parametrize("name", BY_VALUE)
class TestValue:
    @pytest.mark.thorough(keep=5)
    def test_only_move_has_the_minimax_value(self, name):
        """The value -6 is only a bound: the second leaf has -7."""
        assert algorithm(name)(evaluate).search(Tree([[-6, -7]]), 2).value == -7
        for root in only_moves(80):
            found = algorithm(name)(evaluate).search(Tree(root), 5)
            assert found.value == Minimax(evaluate).search(Tree(root), 5).value
            assert found.pv[0] == 1

    def test_single_line_has_the_value_of_its_leaf(self, name):
        found = algorithm(name)(evaluate).search(Tree([[[[3]]]]), 9)
        assert found.value == 3
        assert found.pv[:1] == (1,)

    def test_only_move_at_the_horizon_has_its_evaluation(self, name):
        assert algorithm(name)(lambda game: 5).search(Tree([[-6, -7]]), 1).value == -5

    def test_leaf_root_returns_its_value_without_a_move(self, name):
        for depth in (0, 3):
            found = algorithm(name)(evaluate).search(Tree(-4), depth)
            assert (found.value, found.pv) == (-4, ())
        assert algorithm(name)(lambda game: 2).search(Tree([1, 3]), 0).value == 2


@pytest.mark.thorough(keep=5)
@pytest.mark.parametrize("name", algorithms())
def test_every_algorithm_finds_the_only_move(name):
    options = {"playouts": 20, "seed": 1} if issubclass(algorithms()[name], UCT) else {}
    for root in only_moves(20):
        found = searching(name, evaluate, **options).search(Tree(root), 5)
        assert found.pv[:1] in ((1,), ())
        assert isfinite(found.value)
    assert searching(name, evaluate, **options).search(Nim([1]), 3).pv == ((0, 1),)
    assert searching(name, evaluate, **options).search(Nim([0]), 3).pv == ()


@pytest.mark.parametrize("scale", [1e-9, 1, 1e7, 1e30])
def test_best_node_search_works_on_any_value_scale(scale):
    """The range of the first guess does not limit the values."""
    random = Random(32)
    for _ in range(60):
        root = [[scale * random.uniform(-1, 1) for _ in range(3)] for _ in range(4)]
        for options in ({}, {"low": -1, "high": 1}, {"low": 5.0}, {"high": -5.0}):
            exact = Minimax(evaluate).search(Tree(root), 2)
            found = BestNodeSearch(evaluate, BestNodeOptions(**options)).search(Tree(root), 2)
            assert found.move == exact.move
            assert found.value <= exact.value
