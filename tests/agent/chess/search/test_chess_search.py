"""Requirements of every compiled search, for alpha-beta and Monte Carlo tree search."""

import random
import threading
import time

import chess
import pytest

from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.chess.search.chess_search import ChessSearch
from agent.chess.search.mcts_search import MctsSearch
from agent.evaluation import HANDCRAFTED, Evaluation, EvaluationError
from agent.limits import Cp, Info, Limits, Mate, Score
from tests.support import last_info
from tests.waiting import until

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"

Searcher = type[AlphaBetaSearch] | type[MctsSearch]


@pytest.fixture(params=[AlphaBetaSearch, MctsSearch], ids=["alphabeta", "mcts"])
def searcher(request: pytest.FixtureRequest) -> Searcher:
    searcher_class: Searcher = request.param
    return searcher_class


def value(score: Score) -> int:
    assert isinstance(score, Cp)
    return score.value


def random_board(seed: int) -> chess.Board:
    """Return a position with its game, sometimes of Chess960."""
    rng = random.Random(seed)
    board = chess.Board()
    if rng.random() < 0.3:
        board = chess.Board.from_chess960_pos(rng.randrange(960))
    for _ in range(rng.randrange(4, 60)):
        moves = list(board.legal_moves)
        if len(moves) < 2:
            break
        board.push(rng.choice(moves))
    return board if any(board.legal_moves) else chess.Board()


def test_mate_limit_ends_the_search(searcher: Searcher) -> None:
    board = chess.Board("7k/8/8/8/8/8/R7/1R5K w - - 0 1")
    info = last_info(searcher(), board, Limits(mate=2))
    assert info.score == Mate(2)


def test_repeated_search_is_deterministic(searcher: Searcher) -> None:
    board = chess.Board(KIWIPETE)
    search = searcher()
    first = last_info(search, board, Limits(nodes=50_000))
    search.new_game()
    second = last_info(search, board, Limits(nodes=50_000))
    assert (first.nodes, first.pv, first.score) == (second.nodes, second.pv, second.score)


def test_node_limit_is_respected(searcher: Searcher) -> None:
    info = last_info(searcher(), chess.Board(KIWIPETE), Limits(nodes=10_000))
    assert 5_000 < info.nodes <= 10_000


@pytest.mark.parametrize("nodes", [1, 2, 10])
def test_smallest_node_limit_returns_legal_move(searcher: Searcher, nodes: int) -> None:
    info = last_info(searcher(), chess.Board(KIWIPETE), Limits(nodes=nodes))
    assert info.pv[0] in chess.Board(KIWIPETE).legal_moves


@pytest.mark.parametrize("nodes", [1, 2, 10])
@pytest.mark.parametrize(
    ("fen", "best"),
    [
        ("6k1/5ppp/8/8/8/8/q4PPP/1R4K1 w - - 0 1", "b1b8"),
        ("rnb1kbnr/pppp1ppp/8/4p1q1/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 0 3", "c1g5"),
    ],
)
def test_smallest_node_limit_finds_mate_and_hanging_queen(
    searcher: Searcher, nodes: int, fen: str, best: str
) -> None:
    info = last_info(searcher(), chess.Board(fen), Limits(nodes=nodes))
    assert info.pv[0] == chess.Move.from_uci(best)


def test_node_limit_does_not_interrupt_the_first_iteration() -> None:
    infos = list(AlphaBetaSearch().search(chess.Board(KIWIPETE), Limits(nodes=1), 3))
    assert [(info.depth, info.multipv, info.complete) for info in infos] == [
        (1, number, True) for number in (1, 2, 3)
    ]


def test_search_moves_restrict_root_moves(searcher: Searcher) -> None:
    board = chess.Board(KIWIPETE)
    allowed = tuple(chess.Move.from_uci(text) for text in ("a2a3", "h1g1"))
    infos = list(searcher().search(board, Limits(depth=6, search_moves=allowed), 5))
    assert {info.pv[0] for info in infos} == set(allowed)
    assert max(info.multipv for info in infos) == 2


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize("chess960", [False, True])
def test_variations_are_legal_in_board_notation(searcher: Searcher, chess960: bool) -> None:
    for seed in range(10):
        board = random_board(seed)
        if board.chess960 != chess960:
            board = chess.Board("r3k2r/pppq1ppp/2n1pn2/3p4/3P4/2N1PN2/PPPQ1PPP/R3K2R w KQkq - 0 1")
            board.chess960 = chess960
        for info in searcher().search(board, Limits(depth=8)):
            replay = board.copy()
            for move in info.pv:
                assert move in replay.legal_moves
                assert replay.uci(move) == move.uci()
                replay.push(move)


def test_another_thread_can_stop_the_search(searcher: Searcher) -> None:
    search = searcher()
    started = time.perf_counter()
    threading.Timer(0.2, search.stop).start()
    infos = list(search.search(chess.Board(), Limits(infinite=True)))
    assert infos
    assert time.perf_counter() - started < 5


def test_stop_before_search_takes_effect(searcher: Searcher) -> None:
    search = searcher()
    search.stop()
    infos = list(search.search(chess.Board(), Limits(infinite=True)))
    assert len(infos) == 1
    assert infos[0].pv[0] in chess.Board().legal_moves
    search.clear_stop()
    assert last_info(search, chess.Board(), Limits(depth=3)).depth == 3


def test_threads_share_the_work(searcher: Searcher) -> None:
    """Every thread searches nodes; how many depends on the operating system's scheduler."""
    search, threads = searcher(threads=3), set(threading.enumerate())

    def searched() -> list[int]:
        return [int(game.worker.nodes) for game in search._workers]

    board = chess.Board(KIWIPETE)
    endless = threading.Thread(target=last_info, args=(search, board, Limits(infinite=True)))
    endless.start()
    shared = until(lambda: len(searched()) == 3 and min(searched()) > 1000)
    search.stop()
    endless.join()
    assert shared, searched()
    search.new_game()
    search.clear_stop()
    goal = 900_000 if searcher is AlphaBetaSearch else 30_000
    info = last_info(search, board, Limits(nodes=goal))
    assert info.pv[0] in board.legal_moves
    assert set(threading.enumerate()) <= threads
    if searcher is AlphaBetaSearch:
        assert max(searched()) < goal / 3 + 10
        assert info.nodes <= search.progress().nodes == sum(searched())
    else:
        assert info.nodes == search.progress().nodes == goal
    search.set_threads(1)
    search.new_game()
    assert last_info(search, chess.Board(), Limits(depth=5)).depth == 5


@pytest.mark.thorough(keep=1)
def test_multipv_lines_begin_with_different_moves(searcher: Searcher) -> None:
    search = searcher(megabytes=1)
    for nodes in range(200, 6000, 200):
        search.new_game()
        lines: dict[int, chess.Move] = {}  # as a GUI shows them, by MultiPV number
        for info in search.search(chess.Board(KIWIPETE), Limits(nodes=nodes), 4):
            lines[info.multipv] = info.pv[0]
        assert sorted(lines) == [1, 2, 3, 4][: len(lines)]
        assert len({*lines.values()}) == len(lines)
    assert len(lines) == 4


def test_multipv_reports_the_best_line_first() -> None:
    """This holds for complete lines of the same depth as the first."""
    search, compared = AlphaBetaSearch(megabytes=1), 0
    for nodes in range(2000, 12000, 200):
        search.new_game()
        iterations: list[list[Info[chess.Move]]] = []
        for info in search.search(chess.Board(KIWIPETE), Limits(nodes=nodes), 4):
            if info.multipv == 1:
                iterations.append([])
            iterations[-1].append(info)
        assert max(map(len, iterations)) <= 4
        first, *other_lines = iterations[-1]
        scores = [info.score for info in other_lines if info.depth == first.depth]
        if first.complete and scores:
            assert value(first.score) >= max(map(value, scores))
            compared += 1
    assert compared


def test_the_table_can_be_resized_and_cleared(searcher: Searcher) -> None:
    search = searcher(megabytes=1)
    first = last_info(search, chess.Board(KIWIPETE), Limits(depth=9))
    assert first.hashfull > 0
    search.clear()
    assert search.progress().hashfull == 0
    search.resize(64)
    assert last_info(search, chess.Board(KIWIPETE), Limits(depth=9)).hashfull < first.hashfull


def test_oversized_table_is_rejected(searcher: Searcher) -> None:
    search = searcher(megabytes=1)
    for megabytes in (65536 * 64, 1 << 40):
        with pytest.raises(MemoryError, match=r"not enough memory for a (table|tree) of"):
            search.resize(megabytes)
    assert last_info(search, chess.Board(), Limits(depth=2)).depth == 2


def test_a_python_evaluation_changes_the_play(searcher: Searcher) -> None:
    def knight_on_the_rim(board: chess.Board) -> int:
        value = sum(
            1 if square in chess.SquareSet(chess.BB_FILE_A | chess.BB_FILE_H) else 0
            for square in board.pieces(chess.KNIGHT, chess.WHITE)
        )
        return 100 * value if board.turn else -100 * value

    search = searcher(evaluation=Evaluation("rim", python=knight_on_the_rim))
    info = last_info(search, chess.Board(), Limits(depth=1))
    assert info.pv[0].uci() in ("b1a3", "g1h3")
    assert isinstance(info.score, Cp)
    assert info.score.value > 0


def test_a_python_evaluation_sees_the_position(searcher: Searcher) -> None:
    seen: list[chess.Board] = []

    def look(board: chess.Board) -> int:
        seen.append(board)
        return 0

    board = chess.Board("r3k2r/8/8/8/3Pp3/8/8/R3K2R b KQkq d3 3 7")
    search = searcher(evaluation=Evaluation("look", python=look))
    assert search.evaluate(board) == 0
    assert seen[0].fen() == board.fen()
    list(search.search(board, Limits(depth=2)))
    assert all(position.is_valid() for position in seen)


@pytest.mark.parametrize("after", [0, 1, 500])
def test_failing_evaluation_is_reported(searcher: Searcher, after: int) -> None:
    calls = 0

    def fail(board: chess.Board) -> int:
        nonlocal calls
        calls += 1
        if calls > after:
            raise ZeroDivisionError("by zero")
        return 0

    search = searcher(evaluation=Evaluation("my.py:fail", python=fail))
    infos: list[Info[chess.Move]] = []
    with pytest.raises(EvaluationError, match=r"my.py:fail failed: ZeroDivisionError: by zero"):
        infos.extend(search.search(chess.Board(), Limits(depth=10)))
    assert infos[-1].pv[0] in chess.Board().legal_moves
    search.set_evaluation(HANDCRAFTED)
    assert last_info(search, chess.Board(), Limits(depth=3)).depth == 3


def test_evaluation_results_are_cached(searcher: Searcher) -> None:
    seen: list[str] = []

    def look(board: chess.Board) -> int:
        seen.append(board.epd())
        return 0

    search = searcher(evaluation=Evaluation("look", python=look))
    list(search.search(chess.Board(), Limits(depth=3)))
    assert len(seen) == len(set(seen)) > 10
    search.new_game()
    calls_before = len(seen)
    list(search.search(chess.Board(), Limits(depth=1)))
    assert len(seen) > calls_before


def test_failed_evaluation_is_not_cached(searcher: Searcher) -> None:
    failed: list[str] = []
    seen: list[str] = []

    def fail_once(board: chess.Board) -> int:
        if not failed:
            failed.append(board.epd())
            raise ZeroDivisionError("by zero")
        seen.append(board.epd())
        return 0

    search = searcher(evaluation=Evaluation("once", python=fail_once))
    with pytest.raises(EvaluationError):
        list(search.search(chess.Board(), Limits(depth=2)))
    search.clear_stop()
    list(search.search(chess.Board(), Limits(depth=2)))
    assert failed[0] in seen


@pytest.mark.parametrize("value", [None, "100", 1.5])
def test_an_evaluation_must_return_a_whole_number(searcher: Searcher, value: object) -> None:
    search = searcher(evaluation=Evaluation("odd", python=lambda board: value))  # type: ignore
    with pytest.raises(EvaluationError, match="must be an integer number of centipawns"):
        search.evaluate(chess.Board())


def test_large_evaluations_are_not_mate_scores(searcher: Searcher) -> None:
    search = searcher(evaluation=Evaluation("huge", python=lambda board: 10**12))
    assert isinstance(last_info(search, chess.Board(), Limits(depth=1)).score, Cp)


def reports(search: ChessSearch, limits: Limits[chess.Move]) -> list[tuple[object, ...]]:
    search.clear_stop()
    search.new_game()
    infos = search.search(chess.Board(KIWIPETE), limits)
    return [(info.depth, info.score, info.pv, info.nodes) for info in infos]


@pytest.mark.parametrize("limits", [Limits(depth=4), Limits(nodes=2000)])
def test_first_depths_are_searched_by_one_thread(searcher: Searcher, limits: Limits) -> None:
    """So a good move is available even if the start of many threads is slow."""
    assert reports(searcher(threads=64), limits) == reports(searcher(threads=1), limits)
