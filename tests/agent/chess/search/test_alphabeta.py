"""The compiled alpha-beta search, compared with the plain one; mates, draws, MultiPV, threads."""

import random
import threading
import time
from functools import partial

import chess
import pytest

from agent.chess.board.kernel_board import KernelBoard
from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.chess.search.aspiration import aspiration_search
from agent.chess.search.python_search import PythonSearch, score
from agent.evaluation import HANDCRAFTED, Evaluation
from agent.game import Game
from agent.games.plain_chess import PlainChess
from agent.limits import Cp, Limits, Mate
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions
from agent.search.move_ordering import Ordering
from tests.support import last_info

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


def random_games(seed: int, number: int) -> list[chess.Board]:
    """Return positions with their games: middlegames, endgames, and Chess960."""
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
    """Return the material, with small values for squares so that few moves are equal."""
    piece_values = (0, 100, 310, 330, 510, 970, 0)
    total = 0
    for square, piece in board.piece_map().items():
        value = piece_values[piece.piece_type] + square * (piece.piece_type + 3) % 17
        total += value if piece.color == board.turn else -value
    return total


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize(
    "evaluation", [HANDCRAFTED, Evaluation("material", python=material)], ids=lambda e: e.name
)
def test_unpruned_search_equals_plain_alpha_beta(
    evaluation: Evaluation, depth: int, thorough: bool
) -> None:
    search = AlphaBetaSearch(megabytes=1, evaluation=evaluation, selective=False)
    static = AlphaBetaSearch(megabytes=1, evaluation=evaluation)

    def evaluate(game: Game[chess.Move]) -> float:
        assert isinstance(game, PlainChess)
        return static.evaluate(game.board)

    reference = AlphaBeta[chess.Move](
        evaluate,
        AlphaBetaOptions(
            ending=PythonSearch.ENDING,
            continuation=True,
            ordering=Ordering[chess.Move](ratings=True),
        ),
    )
    number = (6 if depth == 3 else 40) if thorough else 3 if depth == 3 else 12
    for board in random_games(depth, number):
        info = last_info(search, board, Limits(depth=depth))
        assert info.score == score(reference.search(PlainChess(board), depth).value), board.fen()


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
def test_mate_distances_are_exact(fen: str, moves: int) -> None:
    search = AlphaBetaSearch()
    info = last_info(search, chess.Board(fen), Limits(depth=14))
    assert info.score == Mate(moves)
    board = chess.Board(fen)
    for move in info.pv:
        board.push(move)
    assert board.is_checkmate()
    assert len(info.pv) == (2 * moves - 1 if moves > 0 else -2 * moves)


def test_stalemate_and_repetition_are_draws() -> None:
    # The queen stalemates on f7.
    board = chess.Board("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1")
    stalemate = chess.Move.from_uci("f1f7")
    info = last_info(AlphaBetaSearch(), board, Limits(depth=4, search_moves=(stalemate,)))
    assert info.score == Cp(0)
    assert last_info(AlphaBetaSearch(), board, Limits(depth=4)).score == Mate(1)
    # White, a queen down, has a perpetual check.
    board = chess.Board("6k1/6p1/8/7Q/8/8/rq3PPP/6K1 w - - 0 1")
    assert last_info(AlphaBetaSearch(), board, Limits(depth=12)).score == Cp(0)


def test_game_history_counts_for_repetition() -> None:
    board = chess.Board("k7/8/8/8/8/8/5PPP/q5BK w - - 0 1")
    info = last_info(AlphaBetaSearch(), board, Limits(depth=6))
    for text in ("h2h3", "a8b8", "h1h2", "b8a8", "h2h1", "a8b8", "h1h2", "b8a8"):
        board.push_uci(text)
    again = last_info(
        AlphaBetaSearch(),
        board,
        Limits(depth=1, search_moves=(chess.Move.from_uci("h2h1"),)),
    )
    assert info.score != Cp(0)
    assert again.score == Cp(0)


def test_multipv_lines_differ_and_scores_descend() -> None:
    board = chess.Board(KIWIPETE)
    for depth in range(1, 7):
        infos = [
            info
            for info in AlphaBetaSearch().search(board, Limits(depth=depth), 4)
            if info.depth == depth
        ]
        assert [info.multipv for info in infos] == [1, 2, 3, 4]
        assert len({info.pv[0] for info in infos}) == 4
        scores = [info.score.value for info in infos if isinstance(info.score, Cp)]
        assert scores == sorted(scores, reverse=True)


def test_progress_is_available_during_search() -> None:
    search = AlphaBetaSearch()
    thread = threading.Thread(target=lambda: list(search.search(chess.Board(), Limits())))
    thread.start()
    time.sleep(0.3)
    progress = search.progress()
    search.stop()
    thread.join()
    assert progress.nodes > 0
    assert progress.current_move in chess.Board().legal_moves
    assert 1 <= progress.current_move_number <= 20


def test_helper_thread_reduces_main_thread_nodes() -> None:
    """Threads share the table, so a helper that is ahead saves nodes of the main thread.

    Here the helper first searches all iterations and two more, so the result is deterministic.
    """
    board, depth = chess.Board(KIWIPETE), 10

    def nodes(game: KernelBoard, depth: int) -> int:
        score = 0
        for iteration in range(1, depth + 1):
            score = aspiration_search(game.worker, iteration, score)
        return int(game.worker.nodes)

    alone, shared = AlphaBetaSearch(), AlphaBetaSearch(threads=2)
    for search in (alone, shared):
        search._workers.begin(partial(search._load, board, Limits()))
        search._workers.add_workers(len(search._workers))
    main, helper = shared._workers.active
    nodes(helper, depth + 2)
    assert 0 < nodes(main, depth) < nodes(alone._workers.first, depth) / 2
