"""The listings of 'Técnicas de IA, Tema 3.2' and 'Tema 2', transcribed literally.

On trees of integers the searches evaluate the same leaves as these, in the same order.
"""

from math import inf
from random import Random

import pytest

from agent.games.random_tree import RandomTree
from agent.games.tic_tac_toe import TicTacToe
from agent.games.tic_tac_toe import evaluate as shares
from agent.games.tree import Tree, evaluate
from agent.search.algorithms.mtd import MTD
from agent.search.catalogue import algorithm
from agent.search.search import next_down, next_up
from agent.search.tracing import Entered, Evaluated, Returned, traced


def is_leaf(node):
    return not isinstance(node, list)


def pvs(node, alpha, beta, color, leaves):
    if is_leaf(node):
        leaves.append(node)
        return color * node
    for number, child in enumerate(node):
        if number == 0:
            score = -pvs(child, -beta, -alpha, -color, leaves)
        else:
            score = -pvs(child, -alpha - 1, -alpha, -color, leaves)
            if alpha < score < beta:
                score = -pvs(child, -beta, -score, -color, leaves)
        alpha = max(alpha, score)
        if alpha >= beta:
            break
    return alpha


def negascout_1(node, alpha, beta, color, leaves, to_the_horizon):
    if is_leaf(node):
        leaves.append(node)
        return color * node
    a, b = alpha, beta
    for number, child in enumerate(node, 1):
        t = -negascout_1(child, -b, -a, -color, leaves, to_the_horizon - 1)
        if t > a and t < beta and number > 1 and to_the_horizon > 1:
            a = -negascout_1(child, -beta, -t, -color, leaves, to_the_horizon - 1)
        a = max(a, t)
        if a >= beta:
            return a
        b = a + 1
    return a


def negascout_2(node, alpha, beta, color, leaves):
    if is_leaf(node):
        leaves.append(node)
        return color * node
    b = beta
    for number, child in enumerate(node, 1):
        t = -negascout_2(child, -b, -alpha, -color, leaves)
        if t > alpha and t < beta and number > 1:
            t = -negascout_2(child, -beta, -alpha, -color, leaves)
        alpha = max(alpha, t)
        if alpha >= beta:
            return alpha
        b = alpha + 1
    return alpha


def alpha_beta_hard(node, alpha, beta, color, leaves, returned=None, label=()):
    """Return the value for MAX, as in 'Tema 2', and record the value of every node."""

    def value():
        nonlocal alpha, beta
        if is_leaf(node):
            leaves.append(node)
            return node
        for number, child in enumerate(node, 1):
            arguments = leaves, returned, (*label, number)
            if color > 0:
                alpha = max(alpha, alpha_beta_hard(child, alpha, beta, -1, *arguments))
                if alpha >= beta:
                    return beta
            else:
                beta = min(beta, alpha_beta_hard(child, alpha, beta, 1, *arguments))
                if alpha >= beta:
                    return alpha
        return alpha if color > 0 else beta

    found = value()
    if returned is not None:
        returned.append((label, found))
    return found


LISTINGS = {
    "pvs": pvs,
    "negascout-1": negascout_1,
    "negascout-2": negascout_2,
    "alpha-beta-hard": alpha_beta_hard,
}


def whole_trees(count):
    """Yield trees of integers with a search depth: many, few or no equal leaves."""
    random = Random(21)

    def grow(depth, limit):
        if depth == 0 or random.random() < 0.1:
            return random.randint(-limit, limit)
        return [grow(depth - 1, limit) for _ in range(random.randint(1, 4))]

    for number in range(count):
        yield grow(random.randint(1, 5), (2, 9, 1000)[number % 3]), 99
        depth = random.randint(1, 5)
        yield RandomTree(random.randint(2, 4), depth, number).root, depth


def watched(name, root, depth=99):
    """Return the result of an algorithm and its events."""
    events = []
    search = traced(algorithm(name)(evaluate), events.append)
    return search.search(Tree(root), depth), events


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("name", LISTINGS)
def test_visits_leaves_in_the_order_of_the_listing(name, thorough):
    for root, depth in whole_trees(150 if thorough else 60):
        leaves = []
        more = [depth] if name == "negascout-1" else []
        value = LISTINGS[name](root, -inf, inf, 1, leaves, *more)
        found, events = watched(name, root, depth)
        assert found.value == value
        assert [event.value for event in events if isinstance(event, Evaluated)] == leaves


@pytest.mark.thorough
def test_fail_hard_alpha_beta_returns_the_listings_values():
    for root, _ in whole_trees(100):
        returned = []
        alpha_beta_hard(root, -inf, inf, 1, [], returned)
        _, events = watched("alpha-beta-hard", root)
        told = [(event.label, event.value) for event in events if isinstance(event, Returned)]
        assert told == returned


def test_fail_hard_alpha_beta_leaf_returns_its_own_value():
    """The neighbour of N11: the limit is 20, but the leaf returns its value 25."""
    _, events = watched("alpha-beta-hard", [[20, 23], [19, 24], [25, 30]])
    values = {event.label: event.value for event in events if isinstance(event, Returned)}
    assert values[3, 1] == 25


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("name", ["pvs", "negascout-1", "negascout-2"])
def test_principal_variation_leads_to_the_value(name):
    for root, _ in whole_trees(100):
        tree = Tree(root)
        found = algorithm(name)(evaluate).search(tree, 99)
        for move in found.pv:
            tree.play(move)
        assert tree.outcome() == found.value


def test_mtd_f_first_window_is_one_wide_only_for_integers():
    for value in (3, 3.5):
        guesses = []

        class Watched(MTD):
            def _value(self, game, depth, ply, alpha, beta, guesses=guesses):
                if ply == 0:
                    guesses.append((alpha, beta))
                return super()._value(game, depth, ply, alpha, beta)

        assert Watched(evaluate).search(Tree([[value, 12], [2, 4]]), 2).value == value
        step = 1 if value == 3 else 1e-300
        assert guesses[0] == (pytest.approx(-step, abs=1e-299), 0)


@pytest.mark.parametrize("name", ["pvs", "negascout-1", "negascout-2"])
def test_draw_score_does_not_imply_integer_windows(name):
    """With evaluations that are fractions of a win, a window from 0 to 1 would contain them all."""
    game = TicTacToe()
    for move in (0, 1, 8):
        game.play(move)
    windows = []

    def tell(event):
        if isinstance(event, Entered):
            windows.append(event.window)

    traced(algorithm(name)(shares), tell).search(game, 6)
    assert any(low == 0 for low, _ in windows)
    assert (0, 1) not in windows


def test_null_window_bounds_for_integers_and_floats():
    assert (next_up(3), next_down(3)) == (4, 2)
    assert 3 < next_up(3.0) < 3.0000001
    assert 2.9999999 < next_down(3.0) < 3


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("name", ["pvs", "negascout-1", "negascout-2", "mtd-f", "bns"])
def test_null_window_searches_find_fractional_values(name):
    random = Random(22)

    def grow(depth):
        if depth == 0:
            return random.choice([random.randint(0, 3), random.uniform(0, 3)])
        return [grow(depth - 1) for _ in range(3)]

    for _ in range(100):
        root = grow(4)
        exact = algorithm("minimax")(evaluate).search(Tree(root), 4)
        found = algorithm(name)(evaluate).search(Tree(root), 4)
        if name == "bns":
            assert found.move == exact.move
            assert found.value <= exact.value
        else:
            assert found.value == exact.value
