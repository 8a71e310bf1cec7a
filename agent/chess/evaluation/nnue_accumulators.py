"""The memory layout of a worker's NNUE accumulators.

An accumulator is a row with the sum for each neuron from one side's perspective. One block of
memory contains:

- words with the position keys of the accumulators, by ply and perspective;
- words with the pieces in each cached accumulator, by perspective, half of the board with its king,
  and piece (own pieces first);
- rows with the accumulators, by ply and perspective;
- rows with the cached accumulators ("Finny tables"), by perspective and half of the board.
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
    """Return new accumulators for a worker. All of them are marked as out of date."""
    biases = network.weights["biases"][0]
    row_count = CACHED_ROWS + 2 * HALVES
    memory: npt.NDArray[np.uint8] = aligned_zeros(
        np.dtype(np.uint8), ROWS_OFFSET + row_count * biases.nbytes
    )
    rows = memory[ROWS_OFFSET:].view(np.int16).reshape(row_count, -1)
    rows[CACHED_ROWS:] = biases  # the accumulators of an empty board
    return memory
