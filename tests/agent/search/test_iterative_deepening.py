import threading
import time

import chess
import pytest

from agent.chess.search.python_search import PythonSearch
from agent.games import catalogue as games
from agent.limits import Cp, Limits, Mate
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions
from agent.search.iterative_deepening import IterativeDeepening
from agent.search.move_ordering import Ordering

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
HANGING_QUEEN = "rnb1kbnr/pppp1ppp/8/4p1q1/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 0 3"


def infos(fen=chess.STARTING_FEN, limits=None, lines=1, search=None):
    search = search or PythonSearch()
    return list(search.search(chess.Board(fen), limits or Limits(depth=3), lines))


def assert_legal(board, pv):
    board = board.copy()
    assert pv
    for move in pv:
        assert move in board.legal_moves
        board.push(move)


def test_yields_every_depth_in_order():
    found = infos(limits=Limits(depth=4))
    assert [info.depth for info in found] == [1, 2, 3, 4]
    assert all(info.complete and info.multipv == 1 and info.bound == "" for info in found)
    assert [info.nodes for info in found] == sorted({info.nodes for info in found})
    assert all(0 < info.effort <= 1 for info in found)
    for info in found:
        assert_legal(chess.Board(), info.pv)


def test_takes_a_hanging_queen():
    assert infos(HANGING_QUEEN)[-1].pv[0] == chess.Move.from_uci("c1g5")


@pytest.mark.parametrize(
    ("fen", "mate"),
    [
        ("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", 1),
        ("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", 2),
        ("k7/8/1K6/8/8/8/8/7R b - - 0 1", -1),
    ],
)
def test_counts_moves_to_mate(fen, mate):
    assert infos(fen, Limits(depth=4))[-1].score == Mate(mate)


def test_stops_at_the_requested_mate():
    found = infos("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", Limits(mate=2))
    assert found[-1].score == Mate(2)
    assert found[-1].depth <= 4


def test_multipv_lines_are_ordered_best_first():
    found = infos(HANGING_QUEEN, Limits(depth=2), lines=3)
    assert [info.multipv for info in found] == [1, 2, 3, 1, 2, 3]
    last = found[-3:]
    assert len({info.pv[0] for info in last}) == 3
    scores = [info.score.value for info in last]
    assert scores == sorted(scores, reverse=True)


def test_multipv_is_limited_to_the_legal_moves():
    found = infos("7k/8/8/8/8/8/r7/K7 w - - 0 1", Limits(depth=2), lines=5)
    assert [info.multipv for info in found] == [1, 2, 1, 2]


def test_searches_only_the_requested_moves():
    moves = (chess.Move.from_uci("a2a3"), chess.Move.from_uci("h2h3"))
    found = infos(limits=Limits(depth=2, search_moves=moves), lines=4)
    assert {info.pv[0] for info in found} == set(moves)


def test_ignores_search_moves_that_are_all_illegal():
    assert infos(limits=Limits(depth=1, search_moves=(chess.Move.from_uci("e2e5"),)))


@pytest.mark.parametrize("nodes", [0, 1, 10, 2000])
def test_keeps_the_node_limit_after_the_first_iteration(nodes):
    found = infos(KIWIPETE, Limits(nodes=nodes))
    assert found
    assert found[-1].nodes <= max(nodes, 1000)
    assert_legal(chess.Board(KIWIPETE), found[-1].pv)


def test_immediate_stop_still_returns_a_legal_move():
    search = PythonSearch()
    search.stop()
    (info,) = infos(KIWIPETE, Limits(), search=search)
    assert not info.complete
    assert isinstance(info.score, Cp)
    assert_legal(chess.Board(KIWIPETE), info.pv)


@pytest.mark.parametrize(
    ("fen", "best"),
    [
        ("6k1/5ppp/8/8/8/8/q4PPP/1R4K1 w - - 0 1", "b1b8"),
        (HANGING_QUEEN, "c1g5"),
        ("4k3/8/8/8/3p4/2N5/8/4K3 w - - 0 1", "c3"),  # the knight is attacked, and moves
        ("4k3/8/2p5/3p4/8/8/8/3QK3 w - - 0 1", "d1"),  # the pawn is protected
    ],
)
@pytest.mark.parametrize("limits", [Limits(), Limits(nodes=1)])
def test_stopped_search_sees_mate_in_one_and_hanging_pieces(fen, best, limits):
    search = PythonSearch()
    if limits.nodes is None:
        search.stop()
    (*_, info) = infos(fen, limits, search=search)
    move = info.pv[0].uci()
    if best == "d1":
        assert move != "d1d5"
    else:
        assert move.startswith(best)


def test_stop_persists_until_rearmed():
    search = PythonSearch()
    search.stop()
    assert len(infos(search=search)) == 1
    assert len(infos(search=search)) == 1
    search.clear_stop()
    assert len(infos(search=search)) == 3


def test_stop_from_another_thread_ends_the_search():
    search = PythonSearch()
    stopped = []

    def stop():
        stopped.append(time.monotonic())
        search.stop()

    timer = threading.Timer(0.1, stop)
    timer.start()
    found = infos(KIWIPETE, Limits(infinite=True), search=search)
    ended = time.monotonic()
    timer.join()
    assert found
    assert ended - stopped[0] < 2


@pytest.mark.thorough
def test_only_the_last_iteration_may_be_incomplete():
    full = infos(HANGING_QUEEN, Limits(depth=3))
    for nodes in range(50, full[-1].nodes, full[-1].nodes // 20):
        found = infos(HANGING_QUEEN, Limits(nodes=nodes))
        assert_legal(chess.Board(HANGING_QUEEN), found[-1].pv)
        assert all(info.complete for info in found[:-1])


def test_progress_is_readable_during_the_search():
    search = PythonSearch()
    seen = []

    def evaluation(board):
        seen.append(search.progress())
        return 0

    search = PythonSearch(evaluation)
    infos(limits=Limits(depth=2), search=search)
    assert seen[-1].nodes > 0
    assert seen[-1].current_move in chess.Board().legal_moves
    assert {progress.current_move_number for progress in seen} == set(range(1, 21))
    assert search.progress().current_move is None


@pytest.mark.thorough
def test_search_after_new_game_repeats_exactly():
    search = PythonSearch()
    first = infos(KIWIPETE, Limits(depth=2), search=search)
    search.new_game()
    assert infos(KIWIPETE, Limits(depth=2), search=search) == first


def test_a_users_evaluation_is_used():
    def wants_the_knight_out(board):
        out = bool(board.piece_at(chess.F3))
        return (100 if out else 0) * (1 if board.turn else -1)

    found = infos(limits=Limits(depth=1), search=PythonSearch(wants_the_knight_out))
    assert found[-1].pv[0].to_square == chess.F3
    assert found[-1].score == Cp(100)


def test_huge_evaluation_is_not_reported_as_mate():
    found = infos(limits=Limits(depth=2), search=PythonSearch(lambda board: 10**9))
    assert isinstance(found[-1].score, Cp)


def test_evaluation_errors_propagate():
    def broken(board):
        raise ZeroDivisionError("broken evaluation")

    with pytest.raises(ZeroDivisionError, match="broken evaluation"):
        infos(search=PythonSearch(broken))


def test_castling_notation_follows_the_chess960_flag():
    fen = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"
    for chess960, castling in ((False, "e1g1"), (True, "e1h1")):
        board = chess.Board(fen, chess960=chess960)
        moves = (chess.Move.from_uci(castling),)
        found = list(PythonSearch().search(board, Limits(depth=2, search_moves=moves)))
        assert found[-1].pv[0].uci() == castling


def test_search_does_not_change_the_given_board():
    board = chess.Board()
    board.push_san("e4")
    before = board.copy()
    list(PythonSearch().search(board, Limits(nodes=500)))
    assert board == before
    assert board.move_stack == before.move_stack


def test_ordering_by_the_previous_iteration_saves_nodes():
    game, evaluate = games.new_game("connect-four"), games.evaluation("connect-four")
    nodes = []
    for last_turn in (False, True):
        search = AlphaBeta(evaluate, AlphaBetaOptions(ordering=Ordering(last_turn=last_turn)))
        for level in IterativeDeepening(search).iterations(game, game.moves(), 5):
            last = level
        nodes.append((search.counts.nodes, last.lines[0][0]))
    assert nodes[1][0] < nodes[0][0]
    assert nodes[1][1] == nodes[0][1]
