"""Leaves evaluated by the algorithms, compared with theory and published means."""

from random import Random

import pytest

from agent.games.random_tree import RandomTree, evaluate
from agent.games.tree import Tree
from agent.search.catalogue import algorithm
from agent.search.tree_complexity import all_leaves, effective_branching_factor, min_leaves
from tests.support import searching


def watched(tree):
    """Make a tree record its leaves, in the order of their first evaluation."""
    visited = {}
    outcome = tree.outcome

    def watch():
        value = outcome()
        if value is not None:
            visited[tree.key()] = None
        return value

    tree.outcome = watch
    return visited


def leaves(name, tree, depth, **options):
    """Return the leaves that an algorithm evaluates, in order."""
    visited = watched(tree)
    searching(name, evaluate, **options).search(tree, depth)
    del tree.outcome
    return list(visited)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("branching", "depth", "published"),
    [
        (2, 10, (315.7, 308, 278, 222.5, 238.9, 175.7)),
        pytest.param(3, 6, (248.6, 235, 221, 175.3, 196.2, 144.2), marks=pytest.mark.thorough),
    ],
)
def test_mean_leaf_counts_match_published_values(branching, depth, published, thorough):
    names = ("alpha-beta", "scout", "negascout-1", "sss-star", "dual-star", "mtd-f")
    totals = dict.fromkeys(names, 0)
    trees = 250 if thorough else 80
    for seed in range(trees):
        tree = RandomTree(branching, depth, seed)
        value = algorithm("alpha-beta")(evaluate).search(tree, depth).value
        for name in names:
            options = {"first_guess": value} if name == "mtd-f" else {}
            totals[name] += len(leaves(name, tree, depth, **options))
    for name, mean in zip(names, published, strict=True):
        assert totals[name] / trees == pytest.approx(mean, rel=0.03), name


@pytest.mark.thorough
def test_sss_star_never_evaluates_a_leaf_that_alpha_beta_skips():
    random = Random(8)
    for seed in range(150):
        branching, depth = random.randint(2, 4), random.randint(1, 5)
        tree = RandomTree(branching, depth, seed)
        assert set(leaves("sss-star", tree, depth)) <= set(leaves("alpha-beta", tree, depth))


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("name", ["sss-star", "dual-star"])
def test_sss_star_and_its_mtd_form_visit_the_same_leaves(name):
    random = Random(9)
    for seed in range(150):
        branching, depth = random.randint(1, 4), random.randint(1, 5)
        tree = RandomTree(branching, depth, seed)
        assert leaves(name, tree, depth) == leaves(f"{name}-mtd", tree, depth)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("name", ["sss-star", "dual-star"])
def test_sss_star_and_its_mtd_form_agree_with_equal_leaves(name):
    random = Random(10)

    def grow(depth):
        if depth == 0:
            return random.randint(0, 3)
        return [grow(depth - 1) for _ in range(random.randint(1, 3))]

    for _ in range(100):
        tree = Tree(grow(4))
        assert leaves(name, tree, 4) == leaves(f"{name}-mtd", tree, 4)


def best_ordered(branching, depth, value=0, turn=0):
    """Grow a tree in which the first child is always best; `value` is for the mover."""
    if depth == 0:
        return -value if turn else value
    return [
        best_ordered(branching, depth - 1, -value + worse, 1 - turn) for worse in range(branching)
    ]


@pytest.mark.parametrize(("branching", "depth"), [(3, 3), (2, 4), (5, 4), (2, 7), (4, 1), (1, 6)])
@pytest.mark.parametrize(
    "name", ["alpha-beta", "alpha-beta-hard", "scout", "pvs", "negascout-1", "negascout-2"]
)
def test_best_ordered_trees_need_the_minimum_leaves(name, branching, depth):
    tree = Tree(best_ordered(branching, depth))
    assert len(leaves(name, tree, depth)) == min_leaves(branching, depth)


def test_minimax_visits_all_leaves():
    for branching, depth in ((3, 3), (2, 6)):
        assert len(leaves("minimax", RandomTree(branching, depth), depth)) == branching**depth
        assert all_leaves(branching, depth) == branching**depth


def test_minimum_leaf_counts_and_branching_factors_are_known():
    counts = [min_leaves(b, d) for b, d in ((3, 3), (2, 4), (5, 4), (35, 4), (2, 10), (20, 3))]
    assert counts == [11, 7, 49, 2449, 63, 419]
    # For two children the root is the golden ratio.
    assert effective_branching_factor(2) == pytest.approx((1 + 5**0.5) / 2)
    assert effective_branching_factor(1) == pytest.approx(1)
