"""Properties of the hand-written evaluation: symmetry, and simple comparisons."""

import random
from collections.abc import Iterator

import chess
import pytest

from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.evaluation import HANDCRAFTED


@pytest.fixture(scope="module")
def search() -> AlphaBetaSearch:
    return AlphaBetaSearch(megabytes=1, evaluation=HANDCRAFTED)


def random_positions(seed: int) -> Iterator[chess.Board]:
    """Yield the positions of random games, at most 300 in total."""
    rng = random.Random(seed)
    board = chess.Board()
    for _ in range(300):
        moves = list(board.legal_moves)
        if not moves:
            board.reset()
            continue
        board.push(rng.choice(moves))
        yield board


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize("seed", range(5))
def test_evaluation_is_colour_symmetric(search: AlphaBetaSearch, seed: int) -> None:
    for board in random_positions(seed):
        assert search.evaluate(board) == search.evaluate(board.mirror()), board.fen()


@pytest.mark.parametrize("seed", range(3))
def test_evaluation_is_left_right_symmetric(search: AlphaBetaSearch, seed: int) -> None:
    for board in random_positions(seed):
        seen = board.copy(stack=False)
        seen.castling_rights = chess.BB_EMPTY
        mirrored = seen.transform(chess.flip_horizontal)
        assert search.evaluate(seen) == search.evaluate(mirrored), seen.fen()


def test_cached_evaluation_equals_fresh_evaluation() -> None:
    rng = random.Random(1)
    remembering = AlphaBetaSearch(megabytes=1, evaluation=HANDCRAFTED)
    board = chess.Board()
    for _ in range(400):
        moves = list(board.legal_moves)
        if not moves or board.is_insufficient_material():
            board.reset()
            continue
        board.push(rng.choice(moves))
        forgetful = AlphaBetaSearch(megabytes=1, evaluation=HANDCRAFTED)
        assert remembering.evaluate(board) == forgetful.evaluate(board), board.fen()


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param(
            "4k3/8/8/8/8/8/PPP5/RN2K3 w - - 0 1", "4k3/8/8/8/8/8/PPP5/R3K3 w - - 0 1", id="material"
        ),
        pytest.param(
            "4k3/8/8/8/8/8/8/2BBK3 w - - 0 1", "4k3/8/8/8/8/8/8/2BNK3 w - - 0 1", id="bishop pair"
        ),
        pytest.param(
            "4k3/8/P7/8/8/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/P7/8/4K3 w - - 0 1", id="passed pawn"
        ),
        pytest.param(
            "4k3/pp6/8/8/8/8/PP6/4K3 w - - 0 1",
            "4k3/pp6/8/8/8/P7/P7/4K3 w - - 0 1",
            id="doubled pawns",
        ),
        pytest.param(
            "r2q1rk1/ppp2ppp/2n2n2/8/8/2N2N2/PPP2PPP/R2Q1RK1 w - - 0 1",
            "r2q1rk1/ppp2ppp/2n2n2/8/8/2N2N2/PPP2PPP/R2QK2R w - - 0 1",
            id="king safety",
        ),
        pytest.param(
            "4k3/ppp2ppp/8/8/8/8/PPP2PPP/3RK3 w - - 0 1",
            "4k3/ppp2ppp/8/8/8/8/PPP2PPP/R3K3 w - - 0 1",
            id="open file",
        ),
    ],
)
def test_better_positions_score_higher(search: AlphaBetaSearch, better: str, worse: str) -> None:
    assert search.evaluate(chess.Board(better)) > search.evaluate(chess.Board(worse))


def test_evaluation_is_relative_to_side_to_move(search: AlphaBetaSearch) -> None:
    board = chess.Board("4k3/8/8/8/8/8/8/QQ2K3 w - - 0 1")
    assert search.evaluate(board) > 1500
    board.turn = chess.BLACK
    assert search.evaluate(board) < -1500
