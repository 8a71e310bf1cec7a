"""Monte Carlo tree search: the tree, proofs, reuse of the tree, threads.

Tests of both compiled searches are in test_chess_search.py.
"""

import chess
import numpy as np
import pytest

from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.chess.search.mcts import MAX_TREE_PLY, run_playouts
from agent.chess.search.mcts_search import MctsSearch
from agent.evaluation import Evaluation, EvaluationError
from agent.kernel.mcts_tree import FULL, GROWING, NO_NODE, NOT_EXPANDED, ROOT, UNKNOWN
from agent.kernel.node_pool import NodePool
from agent.kernel.playouts import FIRST_PLAYOUTS
from agent.limits import Cp, Limits, Mate
from tests.support import last_info

pytestmark = pytest.mark.early

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


def pool_of(search: MctsSearch) -> NodePool:
    return search._pool


def check_tree(search: MctsSearch, board: chess.Board, node: int = ROOT) -> int:
    """Check that a tree has legal moves and consistent visits; return its number of nodes."""
    pool, game = pool_of(search), search._workers.first
    children = pool.children(node)
    moves = [game.decode_move(pool.move(child)) for child in children]
    assert len(moves) == len(set(moves))
    assert set(moves) <= set(board.legal_moves)
    visits = sum(map(pool.visits, children))
    assert visits <= pool.visits(node)
    if node == ROOT:
        assert len(moves) == board.legal_moves.count()
        assert sum(map(pool.prior, children)) == pytest.approx(1.0, abs=1e-3)
    nodes = 1
    for child, move in zip(children, moves, strict=True):
        assert child > node
        assert -1.0 <= (pool.mean(child) if pool.visits(child) else 0.0) <= 1.0
        board.push(move)
        nodes += check_tree(search, board, child)
        board.pop()
    return nodes


@pytest.mark.parametrize("fen", [chess.STARTING_FEN, KIWIPETE])
def test_tree_has_only_legal_moves_and_consistent_visits(fen: str, thorough: bool) -> None:
    search, nodes = MctsSearch(), 3000 if thorough else 1200
    info = last_info(search, chess.Board(fen), Limits(nodes=nodes))
    pool = pool_of(search)
    assert info.nodes == nodes
    assert sum(pool.visits(child) for child in pool.children(ROOT)) == nodes
    assert check_tree(search, chess.Board(fen)) > nodes * 5 / 6


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        ("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1", 1),
        ("7k/8/8/8/8/8/R7/1R5K w - - 0 1", 2),
        ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2),
        ("8/8/8/8/8/5k2/7q/5K2 w - - 0 1", -1),
    ],
)
def test_mates_are_proven(fen: str, moves: int) -> None:
    info = last_info(MctsSearch(), chess.Board(fen), Limits(nodes=200_000))
    assert info.score == Mate(moves)
    assert info.nodes < 200_000, "a proven root ends the search"


def test_multipv_search_continues_after_mate_proof() -> None:
    board = chess.Board("7k/8/8/8/8/8/R7/1R5K w - - 0 1")
    search = MctsSearch()
    search.clear_stop()
    infos = list(search.search(board, Limits(nodes=5000), 2))
    assert infos[-1].nodes == 5000
    assert infos[-2].score == Mate(2)


def test_stalemate_is_worth_a_draw() -> None:
    board = chess.Board("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1")
    stalemate = chess.Move.from_uci("f1f7")
    search = MctsSearch()
    info = last_info(search, board, Limits(nodes=500, search_moves=(stalemate,)))
    assert info.score == Cp(0)
    assert last_info(search, board, Limits(nodes=5000)).score == Mate(1)


def test_mcts_agrees_with_alphabeta_on_hanging_piece() -> None:
    """Both searches capture a hanging piece, with similar scores."""
    board = chess.Board("rnbqkb1r/pppp1ppp/8/4p3/4n3/2N2N2/PPPP1PPP/R1BQKB1R w KQkq - 0 5")
    search = AlphaBetaSearch()
    search.clear_stop()
    *_, exact = search.search(board, Limits(depth=8))
    info = last_info(MctsSearch(), board, Limits(nodes=20_000))
    assert info.pv[0] == exact.pv[0]
    assert isinstance(info.score, Cp)
    assert isinstance(exact.score, Cp)
    assert abs(info.score.value - exact.score.value) < 150


def test_each_depth_doubles_the_playouts() -> None:
    search = MctsSearch()
    search.clear_stop()
    ends = {info.depth: info.nodes for info in search.search(chess.Board(), Limits(depth=9))}
    assert ends == {depth: FIRST_PLAYOUTS << depth for depth in range(1, 10)}


@pytest.mark.parametrize("choice", ["visits", "value", "bound"])
def test_final_move_follows_choice_setting(choice: str) -> None:
    search = MctsSearch(choice=choice)  # type: ignore[arg-type]
    info = last_info(search, chess.Board(KIWIPETE), Limits(nodes=2000))
    pool, game = pool_of(search), search._workers.first
    children = {game.decode_move(pool.move(child)): child for child in pool.children(ROOT)}
    measure = {"visits": pool.visits, "value": pool.mean}.get(choice)
    if measure:
        assert measure(children[info.pv[0]]) == max(map(measure, children.values()))
    assert search._ranking(ROOT)[0] == children[info.pv[0]]


@pytest.mark.thorough
def test_tree_is_reused_while_the_game_continues() -> None:
    search = MctsSearch()
    board = chess.Board(KIWIPETE)
    info = last_info(search, board, Limits(nodes=10_000))
    board.push(info.pv[0])
    board.push(info.pv[1])
    search._set_root(board, Limits())
    kept = pool_of(search).visits(ROOT)
    assert kept > 100
    later = last_info(search, board, Limits(nodes=1000))
    assert later.nodes == 1000
    assert pool_of(search).visits(ROOT) > kept
    check_tree(search, board.copy())
    # The tree is reused for the same position, but not with search moves, on another board, or
    # after a new game.
    search._set_root(board, Limits())
    assert pool_of(search).visits(ROOT) > kept
    search._set_root(board, Limits(search_moves=(later.pv[0],)))
    assert pool_of(search).visits(ROOT) == 0
    last_info(search, board, Limits(nodes=100))
    search._set_root(chess.Board(), Limits())
    assert pool_of(search).visits(ROOT) == 0
    last_info(search, board, Limits(nodes=100))
    search.new_game()
    search._set_root(board, Limits())
    assert pool_of(search).visits(ROOT) == 0


@pytest.mark.thorough
def test_full_pool_is_pruned_and_search_continues() -> None:
    search = MctsSearch(megabytes=1)
    capacity = pool_of(search).tree.capacity = 5000
    board = chess.Board(KIWIPETE)
    info = last_info(search, board, Limits(nodes=3 * capacity))
    pool = pool_of(search)
    assert info.nodes == 3 * capacity
    assert pool.visits(ROOT) > 2 * capacity
    assert pool.state != FULL
    assert check_tree(search, board.copy()) <= capacity
    assert info.hashfull <= 1000
    pool.prune()
    assert 200 < pool.permille_used() <= 500
    check_tree(search, board.copy())


@pytest.mark.thorough
def test_threads_share_one_tree() -> None:
    search = MctsSearch(threads=3)
    board = chess.Board(KIWIPETE)
    info = last_info(search, board, Limits(nodes=20_000))
    pool = pool_of(search)
    assert info.nodes == 20_000
    assert sum(pool.visits(child) for child in pool.children(ROOT)) == 20_000
    check_tree(search, board.copy())
    assert not pool.columns["marks"].any()


def test_tree_is_discarded_after_evaluation_error() -> None:
    calls = 0

    def fail(board: chess.Board) -> int:
        nonlocal calls
        calls += 1
        if calls > 200:
            raise ZeroDivisionError
        return 0

    search = MctsSearch(evaluation=Evaluation("fail", python=fail))
    search.clear_stop()
    with pytest.raises(EvaluationError):
        list(search.search(chess.Board(), Limits(depth=8)))
    search._set_root(chess.Board(), Limits())
    assert pool_of(search).visits(ROOT) == 0


@pytest.mark.parametrize(("move", "plies"), [("a1a8", 1), ("a1b1", 2)])
def test_unproven_checkmate_node_gets_no_child(move: str, plies: int) -> None:
    """A second thread reaches the node after the first has visited but not yet evaluated it."""
    board = chess.Board("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1")
    search = MctsSearch()
    last_info(search, board, Limits(nodes=1, search_moves=(chess.Move.from_uci(move),)))
    pool = pool_of(search)
    (child,) = pool.children(ROOT)
    entered = {"visits": 1, "proven": UNKNOWN, "untried": NOT_EXPANDED, "firsts": NO_NODE}
    for name, value in entered.items():
        pool.columns[name][child] = value
    pool.tree.state, pool.tree.goal = GROWING, pool.playouts + 1
    path = np.zeros(MAX_TREE_PLY + 2, np.int64)
    run_playouts(search._workers.first.worker, pool.tree, path)
    assert path[1] == child
    assert pool.visits(child) == 2
    assert np.count_nonzero(path[1:]) == plies
    assert len(pool.children(child)) == plies - 1
