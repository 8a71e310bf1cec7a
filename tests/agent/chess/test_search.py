"""The compiled search: equal to plain alpha-beta when unpruned, and its manners."""

import random
import threading
import time

import chess
import pytest

from agent.chess.board_game import BoardGame
from agent.chess.search import KernelSearch
from agent.evaluation import HANDCRAFTED, Evaluation, EvaluationError
from agent.game import Game
from agent.limits import Cp, Info, Limits, Mate
from agent.search.alpha_beta import AlphaBeta
from agent.search.deepening import PlainSearch, score
from agent.search.ordering import Ordering

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


def last_info(
    search: KernelSearch, board: chess.Board, limits: Limits[chess.Move]
) -> Info[chess.Move]:
    search.arm()
    return list(search.deepen(board, limits))[-1]


def random_games(seed: int, number: int) -> list[chess.Board]:
    """Positions with their games behind them: middlegames, endings, and Chess960."""
    rng = random.Random(seed)
    boards = []
    while len(boards) < number:
        board = chess.Board()
        if rng.random() < 0.3:
            board = chess.Board.from_chess960_pos(rng.randrange(960))
        if rng.random() < 0.3:
            board = chess.Board("8/3rk3/8/2p5/4P3/8/3RK3/8 w - - 94 80")
        for _ in range(rng.randrange(4, 60)):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(rng.choice(moves))
        if any(board.legal_moves):
            boards.append(board)
    return boards


def material(board: chess.Board) -> int:
    """Count pieces, with a little noise from the squares so that few moves are equal."""
    worth = (0, 100, 310, 330, 510, 970, 0)
    total = 0
    for square, piece in board.piece_map().items():
        value = worth[piece.piece_type] + square * (piece.piece_type + 3) % 17
        total += value if piece.color == board.turn else -value
    return total


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize(
    "evaluation", [HANDCRAFTED, Evaluation("material", python=material)], ids=lambda e: e.name
)
def test_unpruned_search_equals_plain_alpha_beta(evaluation: Evaluation, depth: int) -> None:
    search = KernelSearch(megabytes=1, evaluation=evaluation, selective=False)
    static = KernelSearch(megabytes=1, evaluation=evaluation)

    def evaluate(game: Game[chess.Move]) -> float:
        assert isinstance(game, BoardGame)
        return static.evaluate(game.board)

    oracle = AlphaBeta[chess.Move](
        evaluate,
        ending=PlainSearch.ENDING,
        continuation=True,
        ordering=Ordering[chess.Move](ratings=True),
    )
    number = 40 if depth < 3 else 6
    for board in random_games(depth, number):
        found = last_info(search, board, Limits(depth=depth))
        assert found.score == score(oracle.search(BoardGame(board), depth).value), board.fen()


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        ("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1", 1),
        ("7k/8/8/8/8/8/R7/1R5K w - - 0 1", 2),
        ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2),
        ("r1b1kb1r/pppp1ppp/5q2/4n3/3KP3/2N3PN/PPP4P/R1BQ1B1R b kq - 0 1", 3),
        ("8/8/8/8/8/5k2/7q/5K2 w - - 0 1", -1),
    ],
)
def test_mates_are_exact(fen: str, moves: int) -> None:
    info = last_info(KernelSearch(), chess.Board(fen), Limits(depth=12))
    assert info.score == Mate(moves)
    board = chess.Board(fen)
    for move in info.pv:
        board.push(move)
    assert board.is_checkmate()
    assert len(info.pv) == (2 * moves - 1 if moves > 0 else -2 * moves)


def test_mate_limit_ends_the_search() -> None:
    board = chess.Board("7k/8/8/8/8/8/R7/1R5K w - - 0 1")
    info = last_info(KernelSearch(), board, Limits(mate=2))
    assert info.score == Mate(2)


def test_stalemate_and_repetition_are_draws() -> None:
    # The queen, a piece up, stalemates on f7.
    board = chess.Board("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1")
    stalemate = chess.Move.from_uci("f1f7")
    info = last_info(KernelSearch(), board, Limits(depth=4, search_moves=(stalemate,)))
    assert info.score == Cp(0)
    assert last_info(KernelSearch(), board, Limits(depth=4)).score == Mate(1)
    # Down a queen, White checks for ever.
    board = chess.Board("6k1/6p1/8/7Q/8/8/rq3PPP/6K1 w - - 0 1")
    assert last_info(KernelSearch(), board, Limits(depth=12)).score == Cp(0)


def test_the_game_before_counts_as_repetition() -> None:
    board = chess.Board("k7/8/8/8/8/8/5PPP/q5BK w - - 0 1")
    info = last_info(KernelSearch(), board, Limits(depth=6))
    for text in ("h2h3", "a8b8", "h1h2", "b8a8", "h2h1", "a8b8", "h1h2", "b8a8"):
        board.push_uci(text)
    again = last_info(
        KernelSearch(),
        board,
        Limits(depth=1, search_moves=(chess.Move.from_uci("h2h1"),)),
    )
    assert info.score != Cp(0)
    assert again.score == Cp(0)


def test_same_search_same_nodes() -> None:
    board = chess.Board(KIWIPETE)
    search = KernelSearch()
    first = last_info(search, board, Limits(nodes=50_000))
    search.new_game()
    second = last_info(search, board, Limits(nodes=50_000))
    assert (first.nodes, first.pv, first.score) == (second.nodes, second.pv, second.score)


def test_node_limit() -> None:
    info = last_info(KernelSearch(), chess.Board(KIWIPETE), Limits(nodes=10_000))
    assert 5_000 < info.nodes <= 10_000


@pytest.mark.parametrize("nodes", [1, 2, 10])
def test_there_is_an_answer_to_the_smallest_limit(nodes: int) -> None:
    info = last_info(KernelSearch(), chess.Board(KIWIPETE), Limits(nodes=nodes))
    assert info.pv[0] in chess.Board(KIWIPETE).legal_moves


def test_search_moves() -> None:
    board = chess.Board(KIWIPETE)
    wanted = tuple(chess.Move.from_uci(text) for text in ("a2a3", "h1g1"))
    infos = list(KernelSearch().deepen(board, Limits(depth=6, search_moves=wanted), 5))
    assert {info.pv[0] for info in infos} == set(wanted)
    assert max(info.multipv for info in infos) == 2


def test_multipv_lines_differ_and_fall() -> None:
    board = chess.Board(KIWIPETE)
    for depth in range(1, 7):
        infos = [
            info
            for info in KernelSearch().deepen(board, Limits(depth=depth), 4)
            if info.depth == depth
        ]
        assert [info.multipv for info in infos] == [1, 2, 3, 4]
        assert len({info.pv[0] for info in infos}) == 4
        scores = [info.score.value for info in infos if isinstance(info.score, Cp)]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("chess960", [False, True])
def test_variations_are_legal_in_the_boards_notation(chess960: bool) -> None:
    for seed in range(10):
        board = random_games(seed, 1)[0]
        if board.chess960 != chess960:
            board = chess.Board("r3k2r/pppq1ppp/2n1pn2/3p4/3P4/2N1PN2/PPPQ1PPP/R3K2R w KQkq - 0 1")
            board.chess960 = chess960
        for info in KernelSearch().deepen(board, Limits(depth=8)):
            replay = board.copy()
            for move in info.pv:
                assert move in replay.legal_moves
                assert replay.uci(move) == move.uci()
                replay.push(move)


def test_stop_from_another_thread() -> None:
    search = KernelSearch()
    started = time.perf_counter()
    threading.Timer(0.2, search.stop).start()
    infos = list(search.deepen(chess.Board(), Limits(infinite=True)))
    assert infos
    assert time.perf_counter() - started < 5


def test_stop_before_the_search_is_kept() -> None:
    search = KernelSearch()
    search.stop()
    infos = list(search.deepen(chess.Board(), Limits(infinite=True)))
    assert len(infos) == 1
    assert infos[0].pv[0] in chess.Board().legal_moves
    search.arm()
    assert last_info(search, chess.Board(), Limits(depth=3)).depth == 3


def test_threads_share_the_work() -> None:
    search = KernelSearch(threads=3)
    info = last_info(search, chess.Board(KIWIPETE), Limits(depth=9))
    assert info.pv[0] in chess.Board(KIWIPETE).legal_moves
    assert threading.active_count() == 1
    search.set_threads(1)
    search.new_game()
    assert last_info(search, chess.Board(), Limits(depth=5)).depth == 5


def test_the_table_can_be_resized_and_cleared() -> None:
    search = KernelSearch(megabytes=1)
    first = last_info(search, chess.Board(KIWIPETE), Limits(depth=9))
    assert first.hashfull > 0
    search.clear()
    assert search.progress().hashfull == 0
    search.resize(64)
    assert last_info(search, chess.Board(KIWIPETE), Limits(depth=9)).hashfull < first.hashfull


def test_an_impossible_table_is_refused() -> None:
    search = KernelSearch(megabytes=1)
    for megabytes in (65536 * 64, 1 << 40):
        with pytest.raises(MemoryError, match="no memory for a table of"):
            search.resize(megabytes)
    assert last_info(search, chess.Board(), Limits(depth=2)).depth == 2


def test_progress_while_searching() -> None:
    search = KernelSearch()
    thread = threading.Thread(target=lambda: list(search.deepen(chess.Board(), Limits())))
    thread.start()
    time.sleep(0.3)
    progress = search.progress()
    search.stop()
    thread.join()
    assert progress.nodes > 0
    assert progress.move in chess.Board().legal_moves
    assert 1 <= progress.number <= 20


def test_a_python_evaluation_changes_the_play() -> None:
    def knight_on_the_rim(board: chess.Board) -> int:
        value = sum(
            1 if square in chess.SquareSet(chess.BB_FILE_A | chess.BB_FILE_H) else 0
            for square in board.pieces(chess.KNIGHT, chess.WHITE)
        )
        return 100 * value if board.turn else -100 * value

    search = KernelSearch(evaluation=Evaluation("rim", python=knight_on_the_rim))
    info = last_info(search, chess.Board(), Limits(depth=1))
    assert info.pv[0].uci() in ("b1a3", "g1h3")
    assert info.score == Cp(100)


def test_a_python_evaluation_sees_the_position() -> None:
    seen: list[chess.Board] = []

    def look(board: chess.Board) -> int:
        seen.append(board)
        return 0

    board = chess.Board("r3k2r/8/8/8/3Pp3/8/8/R3K2R b KQkq d3 3 7")
    search = KernelSearch(evaluation=Evaluation("look", python=look))
    assert search.evaluate(board) == 0
    assert seen[0].fen() == board.fen()
    list(search.deepen(board, Limits(depth=2)))
    assert all(position.is_valid() for position in seen)


@pytest.mark.parametrize("after", [0, 1, 500])
def test_an_evaluation_that_fails_is_reported(after: int) -> None:
    calls = 0

    def fail(board: chess.Board) -> int:
        nonlocal calls
        calls += 1
        if calls > after:
            raise ZeroDivisionError("by zero")
        return 0

    search = KernelSearch(evaluation=Evaluation("my.py:fail", python=fail))
    infos: list[Info[chess.Move]] = []
    with pytest.raises(EvaluationError, match=r"my.py:fail failed: ZeroDivisionError: by zero"):
        infos.extend(search.deepen(chess.Board(), Limits(depth=10)))
    assert infos[-1].pv[0] in chess.Board().legal_moves
    search.set_evaluation(HANDCRAFTED)
    assert last_info(search, chess.Board(), Limits(depth=3)).depth == 3


@pytest.mark.parametrize("value", [None, "100", 1.5])
def test_an_evaluation_must_return_a_whole_number(value: object) -> None:
    search = KernelSearch(evaluation=Evaluation("odd", python=lambda board: value))  # type: ignore
    with pytest.raises(EvaluationError, match="TypeError"):
        search.evaluate(chess.Board())


def test_large_evaluations_are_no_mates() -> None:
    search = KernelSearch(evaluation=Evaluation("huge", python=lambda board: 10**12))
    assert isinstance(last_info(search, chess.Board(), Limits(depth=1)).score, Cp)
