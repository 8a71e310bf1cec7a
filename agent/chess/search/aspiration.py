"""Aspiration: searching the root with a narrow window around the score that is expected.

Most searches of a level return about what the level before did, and a narrow window cuts more.
Where it proves too narrow it is widened on that side, and the search repeated.
"""

from agent.chess.board.records import Worker
from agent.chess.search.alphabeta import search_root
from agent.kernel.decorators import entry_point
from agent.kernel.intrinsics import int64
from agent.kernel.scores import INFINITE, MATE_BOUND

_MIN_DEPTH = 5  # plies: from here the window is narrow
_WIDTH = 14  # centipawns to either side
_WIDENING_FACTOR = 3
_MAX_WIDTH = 600  # centipawns: a window missed by more is opened whole


@entry_point(int64(Worker, int64, int64))
def aspiration_search(worker: Worker, depth: int, previous_score: int) -> int:
    """Search the root to `depth` and return its score; see `search_root` for what else is known.

    previous_score: that of the level before.
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
        open_whole = width > _MAX_WIDTH
        if score <= alpha and alpha > -INFINITE:
            beta = (alpha + beta) // 2
            alpha = int64(-INFINITE) if open_whole else score - width
        elif score >= beta and beta < INFINITE:
            beta = int64(INFINITE) if open_whole else score + width
        else:
            return score
