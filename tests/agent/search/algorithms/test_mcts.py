from math import log, sqrt

import pytest

from agent.games import catalogue as games
from agent.games.connect_four import ConnectFour
from agent.games.nim import Nim, Take
from agent.games.othello import Othello
from agent.games.tic_tac_toe import TicTacToe
from agent.games.tree import Tree, evaluate
from agent.search.algorithms.mcts import UCB1, UCT, Node, UCTOptions
from agent.search.stats import SearchStopped
from tests.support import played

END = 999


def found(game, search=None, **options):
    search = search or UCT(evaluate, UCTOptions(seed=1, **options))
    before = game.key()
    result = search.search(game, END)
    assert game.key() == before
    return game.text(result.move), result.value


@pytest.mark.parametrize("final", ["visits", "mean", "ucb"])
@pytest.mark.parametrize("rave", [0, 50])
@pytest.mark.parametrize("solver", [False, True])
class TestTactics:
    # X: a3 b3, O: a2 b2. The player to move wins at once, otherwise the opponent does.
    def test_takes_the_win(self, final, rave, solver):
        game = played(TicTacToe(), "a3", "a2", "b3", "b2")
        assert found(game, final=final, rave=rave, solver=solver)[0] == "c3"

    def test_takes_the_win_as_second_player(self, final, rave, solver):
        game = played(TicTacToe(), "a3", "a2", "b3", "b2", "a1")
        assert found(game, final=final, rave=rave, solver=solver)[0] == "c2"

    @pytest.mark.thorough(keep=3)
    def test_builds_a_winning_threat_and_blocks_a_win(self, final, rave, solver):
        game = played(ConnectFour(), "4", "4", "5", "5")
        move, _ = found(game, final=final, rave=rave, solver=solver, playouts=2000)
        assert move in ("3", "6")
        game = played(ConnectFour(), "1", "7", "1", "7", "1")
        assert found(game, final=final, rave=rave, solver=solver)[0] == "1"


def test_draws_have_value_zero():
    # The last square of a drawn board, for either player.
    game = played(TicTacToe(), "a3", "b3", "c3", "b2", "a2", "c2", "b1", "a1")
    assert found(game) == ("c1", 0)
    assert found(Tree([[0, 0], [0, 0]]))[1] == 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_settled_draw_does_not_stop_the_search_for_a_win(seed):
    """The second move wins by one of 30 replies. The options are those for games with playouts."""
    game = Tree([0, [[*[-1] * 29, 1]]])
    search = UCT(
        evaluate, UCTOptions(seed=seed, rave=500, exploration=0.1, urgency=0.3, playouts=3000)
    )
    move, value = found(game, search)
    assert (move, value > 0.5) == ("2", True)


@pytest.mark.thorough
def test_values_are_from_the_movers_view():
    for heaps, wins in (([1, 2, 4], True), ([1, 2, 3], False)):
        _, value = found(Nim(heaps), playouts=4000)
        assert (value > 0) == wins
        game = Nim([*heaps, 9])
        game.play(Take(3, 9))
        _, value = found(game, playouts=4000)
        assert (value > 0) == wins


def test_solver_proves_wins_losses_and_draws():
    for heaps, value in (([1, 2, 4], 1), ([1, 2, 3], -1), ([2, 2], -1)):
        search = UCT(evaluate, UCTOptions(solver=True, playouts=10**6, seed=1))
        assert search.search(Nim(heaps), END).value == value
        assert search.counts.leaves < 10**6
    game = played(TicTacToe(), "b2", "a3")
    assert found(game, solver=True, playouts=10**6)[1] == 0


def test_solver_never_plays_a_proven_loss():
    game = played(TicTacToe(), "b2", "a2")
    # After its best move X wins. A move that is proven lost is never chosen.
    for playouts in (50, 500, 5000):
        move, _ = found(game, solver=True, playouts=playouts)
        assert move not in ("c2",)


def test_upper_bound_is_ucb1():
    parent, child = Node("", 1, visits=10), Node("a", 0, visits=4, total=2)
    search = UCT(evaluate, UCTOptions(exploration=2))
    assert search.upper_bound(parent, child) == pytest.approx(0.5 + 2 * sqrt(log(10) / 4))


def test_every_move_is_tried_before_any_is_tried_twice():
    tried = []
    search = UCT(evaluate, UCTOptions(playouts=9, seed=3))
    original = search._descend

    def watch(game, path):
        original(game, path)
        if len(path) == 2:
            tried.append(path[1].move)

    search._descend = watch
    search.search(TicTacToe(), END)
    assert sorted(tried) == list(range(9))


@pytest.mark.parametrize("threshold", [0, 1, 5, 20])
def test_a_leaf_is_expanded_at_the_threshold(threshold):
    search = UCT(evaluate, UCTOptions(playouts=300, threshold=threshold, seed=4))
    root = search._tree(TicTacToe())
    search._begin(TicTacToe())
    for _ in range(300):
        search._run_playout(TicTacToe(), root, END)

    def check(node):
        for child in node.children:
            if child.children:
                assert child.visits > threshold - (threshold == 0)
            check(child)

    check(root)
    assert sum(child.visits for child in root.children) == root.visits == 300
    assert any(child.children for child in root.children)


def test_flat_search_grows_no_tree():
    search = UCB1(evaluate, UCTOptions(playouts=500, seed=5))
    game = played(TicTacToe(), "a3", "a2", "b3", "b2")
    assert found(game, search)[0] == "c3"
    assert search.counts.peak_open == 5
    assert len(search.search(game, END).pv) == 1


def test_uct_finds_the_minimax_move_where_flat_search_fails():
    # For random playouts the first move is better. The second holds against best play.
    tree = Tree([[[1, 1], [1, 1], [-1, -1]], [[0, 0], [0, 0], [0, 0]]])
    flat = UCB1(evaluate, UCTOptions(playouts=3000, seed=6)).search(tree, END)
    grown = UCT(evaluate, UCTOptions(playouts=3000, seed=6)).search(tree, END)
    assert (flat.move, grown.move) == (1, 2)


def test_same_seed_repeats_the_search():
    results = [
        UCT(evaluate, UCTOptions(playouts=200, seed=seed)).search(Othello(6), END)
        for seed in (7, 7, 8)
    ]
    assert results[0] == results[1]
    assert results[0] != results[2]


def test_playouts_use_the_policy():
    calls = []

    def policy(game, moves, random):
        calls.append(moves)
        return moves[0]

    UCT(evaluate, UCTOptions(playouts=20, policy=policy, seed=1)).search(TicTacToe(), END)
    assert calls


def test_depth_limit_uses_the_evaluation():
    search = UCT(games.evaluation("othello"), UCTOptions(playouts=100, scale=64, seed=9))
    found = search.search(Othello(), 3)
    assert search.counts.seldepth == 3
    assert -1 <= found.value <= 1


def test_node_limit_returns_the_best_move_so_far():
    search = UCT(evaluate, UCTOptions(playouts=10**9, node_limit=2000, seed=1))
    game = Othello(6)
    before = game.key()
    assert search.search(game, END).move in game.moves()
    assert search.counts.nodes == 2000
    assert game.key() == before
    search.stopped = True
    with pytest.raises(SearchStopped):
        search.search(game, END)
    assert game.key() == before


def test_finished_game_returns_its_outcome():
    game = Nim([1])
    game.play(Take(0, 1))
    result = UCT(evaluate).search(game, END)
    assert (result.value, result.move) == (-1, None)


def test_low_urgency_leaves_moves_untried():
    root = UCT(evaluate, UCTOptions(playouts=60, seed=1, urgency=0.1, exploration=0.1))
    root.search(Othello(), END)
    assert sum(child.visits for child in root.tree.children) == 60
    flat = UCT(evaluate, UCTOptions(playouts=7, seed=1, urgency=-5, exploration=0))
    flat.search(ConnectFour(), END)
    assert sorted(child.visits for child in flat.tree.children) == [0, 0, 0, 0, 0, 0, 7]
