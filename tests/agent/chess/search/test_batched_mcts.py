"""Monte Carlo tree search of chess with a batched evaluation in Python."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.chess.search.mcts_search import MctsSearch
from agent.evaluation import Evaluation, EvaluationError
from agent.games.chess_batch import ChessBatch, batch_from_boards
from agent.kernel.mcts_tree import ROOT
from agent.limits import Info, Limits, Mate
from tests.agent.chess.search.test_mcts import KIWIPETE, check_tree, last_info, pool_of

PIECE_VALUES = np.array([100, 300, 310, 500, 900, 0])
SIGNED = np.concatenate([PIECE_VALUES, -PIECE_VALUES])
CAPTURE = "rnbqkb1r/pppp1ppp/8/4p3/4n3/2N2N2/PPPP1PPP/R1BQKB1R w KQkq - 0 5"


def material(batch: ChessBatch) -> Any:
    return batch.planes().sum(2) @ SIGNED


def with_priors(batch: ChessBatch) -> Any:
    return material(batch), np.ones((len(batch), batch.width))


def search_by(function: Callable[[Any], Any], size: int, megabytes: int = 16) -> MctsSearch:
    return MctsSearch(megabytes, evaluation=Evaluation("mine", python=function, batch=size))


def check_nothing_is_under_way(search: MctsSearch) -> None:
    """Check that no playout is pending: visits are consistent, and no leaf is locked."""
    pool = pool_of(search)
    assert not pool.columns["marks"].any()
    total = abs(pool.columns["totals"])
    assert (total <= pool.columns["visits"].astype(np.int64) << 20).all()


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("function", [material, with_priors])
@pytest.mark.parametrize(
    ("fen", "size"), [(chess.STARTING_FEN, 1), (KIWIPETE, 16), (KIWIPETE, 256)]
)
def test_tree_has_only_legal_moves_and_consistent_visits(
    fen: str, size: int, function: Callable[[Any], Any], thorough: bool
) -> None:
    search, nodes = search_by(function, size), 600 if thorough else 300
    info = last_info(search, chess.Board(fen), Limits(nodes=nodes))
    pool = pool_of(search)
    assert info.nodes == nodes
    assert pool.visits(ROOT) == nodes
    assert sum(pool.visits(child) for child in pool.children(ROOT)) == nodes - 1
    check_tree(search, chess.Board(fen))
    check_nothing_is_under_way(search)


@pytest.mark.parametrize("size", [1, 64])
def test_batches_contain_exact_positions_and_moves(size: int) -> None:
    """Batches contain the positions that python-chess reaches, with their moves."""
    evaluated: dict[bytes, tuple[Any, ...]] = {}

    def evaluate(batch: ChessBatch) -> Any:
        assert len(batch) <= size
        for row in range(len(batch)):
            key = batch.pieces[row].tobytes() + bytes([int(batch.turns[row])])
            moves = frozenset(batch.moves[row, : batch.counts[row]].tolist())
            rest = (batch.castling[row], batch.en_passant[row], batch.halfmoves[row], moves)
            evaluated[key + batch.castling[row].tobytes()] = rest
        return np.zeros(len(batch))

    for fen in (KIWIPETE, "8/P6k/8/8/1p6/8/2P5/K7 w - - 3 40"):
        board = chess.Board(fen)
        evaluated.clear()
        last_info(search_by(evaluate, size), board, Limits(nodes=400))
        compared = 0
        for first in [None, *board.legal_moves]:
            if first is not None:
                board.push(first)
            exact = batch_from_boards([board])
            key = exact.pieces[0].tobytes() + bytes([int(exact.turns[0])])
            entry = evaluated.get(key + exact.castling[0].tobytes())
            if entry is not None:
                moves = frozenset(exact.moves[0].tolist())
                assert entry == (
                    exact.castling[0], exact.en_passant[0], exact.halfmoves[0], moves
                )  # fmt: skip
                compared += 1
            if first is not None:
                board.pop()
        assert compared > 3


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        ("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1", 1),
        ("8/8/8/8/8/5k2/7q/5K2 w - - 0 1", -1),
    ],
)
def test_mates_are_proven(fen: str, moves: int) -> None:
    info = last_info(search_by(with_priors, 32), chess.Board(fen), Limits(nodes=100_000))
    assert info.score == Mate(moves)
    assert info.nodes < 100_000, "a proven root ends the search"


def test_hanging_piece_is_captured() -> None:
    for function in (material, with_priors):
        info = last_info(search_by(function, 64), chess.Board(CAPTURE), Limits(nodes=5000))
        assert info.pv[0] == chess.Move.from_uci("c3e4")


def test_move_with_high_prior_gets_most_visits() -> None:
    def evaluate(batch: ChessBatch) -> Any:
        priors = np.full((len(batch), batch.width), 0.01)
        priors[batch.moves == chess.A2 + 64 * chess.A3] = 1
        return np.zeros(len(batch)), priors

    search = search_by(evaluate, 16)
    info = last_info(search, chess.Board(), Limits(nodes=500))
    assert info.pv[0] == chess.Move.from_uci("a2a3")
    pool = pool_of(search)
    (favourite,) = (child for child in pool.children(ROOT) if pool.prior(child) > 0.5)
    assert pool.prior(favourite) == pytest.approx(1 / 1.19)
    assert pool.visits(favourite) > 250


def test_only_requested_moves_are_searched() -> None:
    moves = (chess.Move.from_uci("a2a3"), chess.Move.from_uci("h2h3"))
    search = search_by(with_priors, 16)
    info = last_info(search, chess.Board(), Limits(nodes=300, search_moves=moves))
    assert info.pv[0] in moves
    assert len(pool_of(search).children(ROOT)) == 2


def test_tree_is_reused_across_moves_in_small_memory() -> None:
    search = search_by(material, 64, megabytes=1)
    board = chess.Board()
    for move in ("e2e4", "e7e5", "g1f3"):
        info = last_info(search, board, Limits(nodes=4000))
        assert info.nodes == 4000
        check_nothing_is_under_way(search)
        board.push_uci(move)
    search._set_root(board, Limits())
    assert pool_of(search).visits(ROOT) > 0


def test_chess960_castling_is_searched() -> None:
    board = chess.Board("4k3/8/8/8/8/8/8/RK5R w AH - 0 1", chess960=True)
    castling = [move for move in board.legal_moves if board.is_castling(move)]
    assert castling
    info = last_info(search_by(material, 8), board, Limits(nodes=200, search_moves=(castling[0],)))
    assert info.pv[0] == castling[0]


WRONG = {
    "raises": (lambda batch: 1 // 0, "ZeroDivisionError"),
    "shape": (lambda batch: np.zeros((len(batch), 1)), "values have shape"),
    "nan": (lambda batch: np.full(len(batch), np.nan), "values contain nan"),
    "type": (lambda batch: ["much"] * len(batch), "expected real numbers"),
}


@pytest.mark.parametrize(("function", "message"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("after", [0, 5])
def test_invalid_evaluation_raises_and_next_search_works(
    function: Callable[[Any], Any], message: str, after: int
) -> None:
    calls = []

    def evaluate(batch: ChessBatch) -> Any:
        calls.append(len(batch))
        return function(batch) if len(calls) > after else material(batch)

    search = search_by(evaluate, 16)
    search.clear_stop()
    infos: list[Info[chess.Move]] = []
    with pytest.raises(EvaluationError, match=message):
        infos.extend(search.search(chess.Board(), Limits(nodes=5000)))
    for info in search_again(search, evaluate, calls):
        assert info.pv[0] in chess.Board().legal_moves
    assert len(calls) > after


def search_again(
    search: MctsSearch, evaluate: Callable[[Any], Any], calls: list[int]
) -> list[Info[chess.Move]]:
    """After a failure the next search starts with an empty tree, and evaluates again."""
    search.set_evaluation(Evaluation("sound", python=material, batch=16))
    search.clear_stop()
    infos = list(search.search(chess.Board(), Limits(nodes=200)))
    assert infos[-1].nodes == 200
    check_nothing_is_under_way(search)
    return infos


def test_move_is_reported_before_first_failure() -> None:
    search = search_by(lambda batch: 1 // 0, 16)
    search.clear_stop()
    infos = search.search(chess.Board(), Limits(nodes=500))
    info = next(infos)
    assert info.pv[0] in chess.Board().legal_moves
    assert not info.complete
    with pytest.raises(EvaluationError, match="ZeroDivisionError"):
        next(infos)


def test_stop_ends_batched_search() -> None:
    calls = []

    def evaluate(batch: ChessBatch) -> Any:
        calls.append(len(batch))
        if len(calls) == 20:
            search.stop()
        return material(batch)

    search = search_by(evaluate, 16)
    info = last_info(search, chess.Board(), Limits())
    assert not info.complete
    assert len(calls) == 20
    check_nothing_is_under_way(search)


def test_alpha_beta_evaluates_one_position_at_a_time() -> None:
    sizes = set()

    def evaluate(batch: ChessBatch) -> Any:
        sizes.add(len(batch))
        return material(batch) + 0.4

    search = AlphaBetaSearch(1, evaluation=Evaluation("mine", python=evaluate, batch=64))
    search.clear_stop()
    info = list(search.search(chess.Board(CAPTURE), Limits(depth=3)))[-1]
    assert info.pv[0] == chess.Move.from_uci("c3e4")
    assert sizes == {1}
    assert search.evaluate(chess.Board("4k3/8/8/8/8/8/8/R3K3 b - - 0 1")) == -500


def test_batches_are_full_once_the_tree_is_large(tmp_path: Path) -> None:
    sizes = []

    def evaluate(batch: ChessBatch) -> Any:
        sizes.append(len(batch))
        return material(batch)

    last_info(search_by(evaluate, 64), chess.Board(), Limits(nodes=8000))
    assert sizes[0] == 1
    assert np.median(sizes) == 64
    assert sum(sizes) <= 8000
