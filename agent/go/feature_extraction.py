"""The features of all moves of a position, for those who learn weights of them."""

import numpy as np
import numpy.typing as npt

from agent.go.features import FEATURE_COLUMNS, feature_index
from agent.go.priors import NO_PRIOR, compute_priors
from agent.go.records import PASS, Worker
from agent.kernel.decorators import entry_point
from agent.kernel.intrinsics import int64


@entry_point(int64(Worker, int64[::1], int64[:, ::1]))
def extract_features(
    worker: Worker, moves: npt.NDArray[np.int64], found: npt.NDArray[np.int64]
) -> int:
    """Write the moves that a search would try at the root, and the features of each, by column.

    Returns how many moves there are; there must be room for all vertices and PASS.
    """
    board = worker.root
    compute_priors(worker, board, int64(0))
    number = 0
    for i in range(-1, board.empty_count):
        move = int64(PASS) if i < 0 else int64(board.empty_vertices[i])
        if worker.prior_counts[move] == NO_PRIOR:
            continue
        moves[number] = move
        for column in range(FEATURE_COLUMNS):
            found[number, column] = feature_index(worker, board, move, column)
        number += 1
    return number
