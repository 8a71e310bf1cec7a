"""The examples of the lecture notes, as far as the text defines them.

Leaves that the text does not define were chosen so that its statements hold.
"""

from math import inf

import pytest

from agent.games.grundy import Grundy
from agent.games.nim import Nim
from agent.games.tic_tac_toe import TicTacToe
from agent.games.tic_tac_toe import evaluate as open_lines
from agent.games.tree import Tree, evaluate
from agent.search.algorithms.and_or import AndOr
from agent.search.algorithms.minimax import Minimax
from agent.search.catalogue import algorithm
from agent.search.search import SearchOptions


def evaluated(name, root, depth):
    """Return an algorithm's value of a tree, and the leaves that it evaluates, in order."""
    tree, visited = Tree(root), {}
    outcome = tree.outcome

    def watch():
        value = outcome()
        if value is not None:
            visited.setdefault(tree.key(), value)
        return value

    tree.outcome = watch
    return algorithm(name)(evaluate).search(tree, depth).value, list(visited.values())


@pytest.mark.parametrize("name", ["alpha-beta", "alpha-beta-hard"])
def test_alpha_beta_matches_the_tema_2_example(name):
    """Nodes are numbered level by level: N8 to N15 are MIN, N16 to N31 the leaves.

    N16 = 20 determines N8. N18 = 19 cuts off N19. N10 does not change the limit of 20, so N11 is
    cut off. The root's value is 20 after its first child, and the second child has several
    cut-offs.
    """
    left = [[[20, 23], [19, 99]], [[27, 24], [98, 97]]]
    right = [[[18, 96], [17, 95]], [[94, 93], [92, 91]]]
    value, leaves = evaluated(name, [left, right], 4)
    assert value == 20
    assert leaves == [20, 23, 19, 27, 24, 18, 17]


def test_scout_matches_the_tema_2_example():
    """The first child has value 8 and the test of the second fails. Alpha-beta prunes nothing."""
    first, second = [[8, 3], [2, 9]], [[10, 12], [7, 5]]
    value, leaves = evaluated("scout", [first, second], 3)
    assert value == 8
    assert leaves == [8, 3, 2, 9, 10, 7, 5]
    assert evaluated("alpha-beta", [first, second], 3) == (8, [8, 3, 2, 9, 10, 12, 7, 5])


@pytest.mark.parametrize("name", ["alpha-beta", "alpha-beta-hard"])
def test_alpha_beta_matches_the_juegos_example(name):
    """Beta of A is 3, so 5 cuts off B. Alpha of the root is 3, so 0 cuts off D and 2 cuts off E."""
    a = [[1, 3], [5, 90]]
    d = [[0], [91, 92]]
    e = [[2, -1], [93, 94]]
    assert evaluated(name, [a, d, e], 3) == (3, [1, 3, 5, 0, 2, -1])


def test_minimax_matches_the_busqueda_con_adversario_example():
    """MAX can be sure of 9, and gets 16 if MIN plays badly."""
    assert evaluated("minimax", [[2, 7], [9, 16], [14, 5]], 2)[0] == 9


@pytest.mark.parametrize(
    ("opening", "value"), [("corner", -1), ("edge", -2), ("centre", 1)], ids=str
)
def test_two_ply_search_rates_tic_tac_toe_openings(opening, value):
    """By open lines the centre is the best first move, considering the opponent's replies."""
    game = TicTacToe()
    game.play({"corner": 0, "edge": 1, "centre": 4}[opening])
    assert round(-9 * Minimax(open_lines).search(game, 1).value) == value


def test_minimax_opens_tic_tac_toe_in_the_centre():
    found = Minimax(open_lines).search(TicTacToe(), 2)
    assert (found.move, round(9 * found.value)) == (4, 1)


def test_tic_tac_toe_evaluation_counts_open_lines():
    """Five lines are open for MAX and four for MIN: f = 5 - 4 = 1."""
    game = TicTacToe()
    game.play(4)
    game.play(1)
    assert (game.open_lines(0), game.open_lines(1)) == (6, 4)
    game = TicTacToe()
    game.play(0)
    game.play(1)
    game.play(8)
    game.play(4)
    assert game.open_lines(0) - game.open_lines(1) == round(9 * open_lines(game))


@pytest.mark.parametrize("game", [Grundy(7), Nim((1, 2, 3))], ids=["grundy", "nim"])
def test_winning_strategy_covers_all_replies_and_ends_in_wins(game):
    """The first player loses: the opponent has a winning answer to each of its moves."""
    assert AndOr(evaluate).search(game, 99).value < 0

    def follow(strategy, winner):
        if game.outcome() is not None:
            assert game.outcome() == (1 if winner == 0 else -1)
            assert not strategy.answers
        elif game.turn == winner:
            assert len(strategy.answers) == 1
        else:
            assert set(strategy.answers) == set(game.moves())
        for move, answer in strategy.answers.items():
            game.play(move)
            follow(answer, winner)
            game.undo()

    for move in list(game.moves()):
        game.play(move)
        search = AndOr(evaluate)
        assert search.search(game, 99).value > 0
        follow(search.strategy, 1)
        game.undo()


@pytest.mark.parametrize(("branching", "depth"), [(2, 6), (3, 4), (5, 3)])
def test_minimax_node_counts_match_the_geometric_series(branching, depth):
    """There are B - 1 leaves per inner node, so earlier iterations add a fraction of about 1/B."""
    from agent.games.random_tree import RandomTree

    search = Minimax(evaluate, SearchOptions(node_limit=inf))
    search.search(RandomTree(branching, depth), depth)
    inner = search.counts.nodes - search.counts.leaves
    assert inner == (branching**depth - 1) // (branching - 1)
    assert search.counts.leaves == branching**depth
