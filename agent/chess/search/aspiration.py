"""Aspiration windows: root search with a narrow window around the expected score."""

import numba

from agent.chess.board.records import Worker
from agent.chess.search.alphabeta import search_root
from agent.kernel.decorators import entry_point
from agent.kernel.intrinsics import int64
from agent.kernel.scores import INFINITE, MATE_BOUND
from agent.kernel.transposition_table import EXACT, LOWER, UPPER

_MIN_DEPTH = 5  # lower depths use a full window
_WIDTH = 14  # centipawns on either side
_WIDENING_FACTOR = 3
_MAX_WIDTH = 600  # centipawns; a wider bound becomes infinite


@entry_point(numba.types.UniTuple(int64, 5)(Worker, int64, int64, int64, int64, int64))
def search_window(
    worker: Worker, depth: int, score: int, alpha: int, beta: int, width: int
) -> tuple[int, int, int, int, int]:
    """Search the root with one window. Return the score, the next window, and the type of bound.

    The arguments after `depth` are from the result of the previous call for this depth. In the
    first call, `score` is the expected score and `width` is 0. The search ends when the bound is
    EXACT. The best move and the principal variation are stored as by `search_root`.
    """
    if width == 0:
        alpha, beta, width = int64(-INFINITE), int64(INFINITE), int64(_WIDTH)
        if depth >= _MIN_DEPTH and abs(score) < MATE_BOUND and worker.selective:
            alpha, beta = score - width, score + width
    score = search_root(worker, depth, alpha, beta)
    bound = int64(EXACT)
    width *= _WIDENING_FACTOR
    unbounded = width > _MAX_WIDTH
    if score <= alpha and alpha > -INFINITE:
        bound = int64(UPPER)
        beta = (alpha + beta) // 2
        alpha = int64(-INFINITE) if unbounded else score - width
    elif score >= beta and beta < INFINITE:
        bound = int64(LOWER)
        beta = int64(INFINITE) if unbounded else score + width
    return score, alpha, beta, width, bound


@entry_point(int64(Worker, int64, int64))
def aspiration_search(worker: Worker, depth: int, previous_score: int) -> int:
    """Search the root until the score is exact, as described for `search_window`."""
    zero = int64(0)
    score, alpha, beta, width, bound = search_window(
        worker, depth, previous_score, zero, zero, zero
    )
    while bound != EXACT and not worker.stop:
        score, alpha, beta, width, bound = search_window(worker, depth, score, alpha, beta, width)
    return score
