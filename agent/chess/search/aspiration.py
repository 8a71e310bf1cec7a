"""Aspiration windows: root search with a narrow window around the expected score."""

from agent.chess.board.records import Worker
from agent.chess.search.alphabeta import search_root
from agent.kernel.decorators import entry_point
from agent.kernel.intrinsics import int64
from agent.kernel.scores import INFINITE, MATE_BOUND

_MIN_DEPTH = 5  # lower depths use a full window
_WIDTH = 14  # centipawns on either side
_WIDENING_FACTOR = 3
_MAX_WIDTH = 600  # centipawns; a wider bound becomes infinite


@entry_point(int64(Worker, int64, int64))
def aspiration_search(worker: Worker, depth: int, previous_score: int) -> int:
    """Search the root with a window around `previous_score`, and return the score.

    The best move and the principal variation are stored as by `search_root`.
    """
    width = int64(_WIDTH)
    alpha, beta = int64(-INFINITE), int64(INFINITE)
    if depth >= _MIN_DEPTH and abs(previous_score) < MATE_BOUND and worker.selective:
        alpha, beta = previous_score - width, previous_score + width
    while True:
        score = search_root(worker, depth, alpha, beta)
        if worker.stop:
            return score
        width *= _WIDENING_FACTOR
        unbounded = width > _MAX_WIDTH
        if score <= alpha and alpha > -INFINITE:
            beta = (alpha + beta) // 2
            alpha = int64(-INFINITE) if unbounded else score - width
        elif score >= beta and beta < INFINITE:
            beta = int64(INFINITE) if unbounded else score + width
        else:
            return score
