"""Every algorithm against an independent implementation: the value and the order of leaves."""

from functools import partial
from math import inf
from random import Random

import pytest

from agent.games.random_tree import RandomTree
from agent.games.tree import Tree, evaluate
from agent.search.catalogue import algorithm, algorithms
from agent.search.tracing import Counted, Evaluated, PlayedOut, traced
from tests.agent.search import references
from tests.agent.search.test_book_listings import LISTINGS

# Algorithms that evaluate the same leaves in the same order, equally often.
SAME_LEAVES = {
    "alpha-beta": references.alpha_beta,
    "and-or": references.two_valued,
    "dual-star": references.dual_star,
    "expectiminimax": references.minimax,  # without chance
    "minimax": references.minimax,
    "minimax-two-valued": references.two_valued,
    "mtd-f": references.mtd_f,
    "negamax": references.minimax,
    "null-move": references.alpha_beta,  # passing is not allowed in these trees
    "scout": references.scout,
    "sss-star": references.sss_star,
    # With null windows and a memory they evaluate the same leaves as with lists.
    "dual-star-mtd": references.dual_star,
    "sss-star-mtd": references.sss_star,
}


def trees(thorough):
    """Yield trees of integers: uniform and not, with many, few or no equal leaves."""
    random = Random(33)

    def grow(depth, limit, is_root=False):
        if depth == 0 or (not is_root and random.random() < 0.1):
            return random.randint(-limit, limit)
        return [grow(depth - 1, limit) for _ in range(random.randint(1, 4))]

    for number in range(300 if thorough else 25):
        if number % 3:
            yield grow(random.randint(1, 5), (3, 50)[number % 2], is_root=True)
        else:
            depth = random.randint(1, 5)
            yield RandomTree(random.randint(1, 4) if depth < 5 else 3, depth, number).root


def watched(name, root, **options):
    kind, events = algorithm(name), []
    search = traced(kind(evaluate, kind.options(**options)), events.append)
    return search.search(Tree(root), 99), events


def evaluated(events):
    return [event.label for event in events if isinstance(event, Evaluated)]


def test_every_exact_algorithm_has_a_reference():
    """The listings of the lecture notes are four more, in test_book_listings."""
    exact = {name for name, kind in algorithms().items() if kind.exact}
    assert exact <= {*SAME_LEAVES, *LISTINGS}


@pytest.mark.thorough(keep=5)
@pytest.mark.parametrize("name", SAME_LEAVES)
def test_value_and_leaf_order_equal_the_reference(name, thorough):
    for root in trees(thorough):
        leaves = []
        value = SAME_LEAVES[name](root, leaves)
        found, events = watched(name, root)
        assert found.value == value, root
        assert evaluated(events) == leaves, root


@pytest.mark.parametrize("guess", [-40, 7, 1000])
def test_mtd_f_equals_the_reference_for_other_first_guesses(guess, thorough):
    for root in trees(thorough):
        leaves = []
        value = references.mtd_f(root, leaves, guess)
        found, events = watched("mtd-f", root, first_guess=guess)
        assert (found.value, evaluated(events)) == (value, leaves), root


@pytest.mark.parametrize("strategy", ["prove-best", "disprove-rest", "widest"])
def test_b_star_finds_a_best_move_within_valid_bounds(strategy, thorough):
    random = Random(34)
    for root in trees(thorough):
        bounds = partial(_true_bounds, random=Random(random.random()))
        found, _ = watched("b-star", root, bounds=bounds, strategy=strategy)
        assert found.move in references.best_moves(root), root
        assert found.value <= references.minimax(root, []), root


def _true_bounds(game, random):
    """Return bounds of a position for its mover that contain its value."""
    maximises = game.turn == 0
    node = game.root
    for move in game.key():
        node = node[move - 1]
    value = references.minimax(node, [], game.key())
    lower, upper = value - random.randint(0, 9), value + random.randint(0, 9)
    return (lower, upper) if maximises else (-upper, -lower)


@pytest.mark.parametrize("span", [(-inf, inf), (-50, 50), (0, 5)])
def test_best_node_search_finds_a_best_move(span, thorough):
    for root in trees(thorough):
        found, _ = watched("bns", root, low=span[0], high=span[1])
        assert found.move in references.best_moves(root), root


@pytest.mark.parametrize("name", ["ucb1", "uct"])
def test_mcts_playouts_and_tree_equal_the_reference(name, thorough):
    for seed, root in enumerate(trees(thorough)):
        scale = Tree(root).max_utility() or 1
        _, events = watched(name, root, playouts=60, seed=seed, scale=scale)
        other = references.Playouts(root, 60, seed, scale, flat=name == "ucb1")
        ends = [(e.label, e.reward) for e in events if isinstance(e, PlayedOut)]
        assert ends == [(label, pytest.approx(reward)) for label, reward in other.ends]
        counted = {e.label: (e.visits, e.mean) for e in events if isinstance(e, Counted)}
        assert counted == {
            label: (visits, pytest.approx(other.rewards[label] / visits))
            for label, visits in other.visits.items()
            if visits
        }
