"""What a worker keeps of a network: the sums of its neurons, by ply and view.

In one piece of memory lie, as words, the keys by ply and view of the positions that the sums belong
to; by view and half of the board, where the own king may stand, the squares of the pieces, own and
then enemy, that the row kept for it sums up; then the rows by ply and view, and those kept.
"""

import numpy as np
import numpy.typing as npt

from agent.chess.evaluation.nnue_format import ALIGNMENT, NnueNetwork, aligned_zeros
from agent.kernel.scores import MAX_PLY

HALVES = 2
PIECES = 12
_PLIES = MAX_PLY + 2

KEYS_OFFSET = 0  # in words
SQUARES_OFFSET = KEYS_OFFSET + 2 * _PLIES  # in words
_WORDS = SQUARES_OFFSET + 2 * HALVES * PIECES
ROWS_OFFSET = -(-_WORDS * 8 // ALIGNMENT) * ALIGNMENT  # in bytes
CACHED_ROWS = 2 * _PLIES  # in rows


def allocate_accumulators(network: NnueNetwork) -> npt.NDArray[np.uint8]:
    """Allocate what a worker keeps of a network, where no ply is up to date."""
    biases = network.weights["biases"][0]
    count = CACHED_ROWS + 2 * HALVES
    memory: npt.NDArray[np.uint8] = aligned_zeros(
        np.dtype(np.uint8), ROWS_OFFSET + count * biases.nbytes
    )
    memory[ROWS_OFFSET:].view(np.int16).reshape(count, -1)[CACHED_ROWS:] = (
        biases  # of an empty board
    )
    return memory
