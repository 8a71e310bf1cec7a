"""What a worker keeps of a network: the sums of its neurons, by ply and view.

In one piece of memory lie, as words, the keys by ply and view of the positions that the sums belong
to; by view and half of the board, where the own king may stand, the squares of the pieces, own and
then enemy, that the row kept for it sums up; then the rows by ply and view, and those kept.
"""

import numpy as np
import numpy.typing as npt

from agent.chess.network_format import ALIGNMENT, Network, aligned
from agent.compiled.scores import MAX_PLY

HALVES = 2
PIECES = 12
_PLIES = MAX_PLY + 2

KEYS = 0  # in words
SQUARES = KEYS + 2 * _PLIES  # in words
_WORDS = SQUARES + 2 * HALVES * PIECES
ROWS = -(-_WORDS * 8 // ALIGNMENT) * ALIGNMENT  # in bytes
KEPT_ROWS = 2 * _PLIES  # in rows


def empty_accumulators(network: Network) -> npt.NDArray[np.uint8]:
    """Allocate what a worker keeps of a network, where no ply is up to date."""
    biases = network.weights["biases"][0]
    count = KEPT_ROWS + 2 * HALVES
    memory: npt.NDArray[np.uint8] = aligned(np.dtype(np.uint8), ROWS + count * biases.nbytes)
    memory[ROWS:].view(np.int16).reshape(count, -1)[KEPT_ROWS:] = biases  # of an empty board
    return memory
