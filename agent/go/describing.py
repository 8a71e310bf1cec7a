"""The features of all moves of a position, for those who learn weights of them."""

import numpy as np
import numpy.typing as npt

from agent.compiled.kernel import entry
from agent.compiled.native import int64
from agent.go.features import COLUMNS, feature
from agent.go.priors import NO_WEIGHT, weigh
from agent.go.records import PASS, Worker


@entry(int64(Worker, int64[::1], int64[:, ::1]))
def describe(worker: Worker, moves: npt.NDArray[np.int64], found: npt.NDArray[np.int64]) -> int:
    """Write the moves that a search would try at the root, and the features of each, by column.

    Returns how many moves there are; there must be room for all vertices and PASS.
    """
    board = worker.root
    weigh(worker, board, int64(0))
    number = 0
    for i in range(-1, board.empty):
        move = int64(PASS) if i < 0 else int64(board.empties[i])
        if worker.weights[move] == NO_WEIGHT:
            continue
        moves[number] = move
        for column in range(COLUMNS):
            found[number, column] = feature(worker, board, move, column)
        number += 1
    return number
