"""Extraction of the features of all moves in a position, for training the weights."""

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
    """Write the root moves that a search considers to `moves`, and their features to `found`.

    Return the number of moves. The arrays must have room for all vertices and PASS.
    """
    board = worker.root
    compute_priors(worker, board, int64(0))
    count = 0
    for i in range(-1, board.empty_count):
        move = int64(PASS) if i < 0 else int64(board.empty_vertices[i])
        if worker.prior_counts[move] == NO_PRIOR:
            continue
        moves[count] = move
        for column in range(FEATURE_COLUMNS):
            found[count, column] = feature_index(worker, board, move, column)
        count += 1
    return count
