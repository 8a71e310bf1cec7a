"""The shape of the Go network, and the layout of its parameters and activations.

Parameters are rows of CHANNELS float32 numbers: row `i` of a matrix holds the weights of input `i`.
"""

from dataclasses import dataclass

CHANNELS = 32
INPUTS = 16
POOLED = 2 * CHANNELS
MAX_BLOCKS = 16
CELL_MARGIN = 8  # vertices after the board that a convolution may read
MAX_CELLS = 448

# Rows of parameters.
STEM_ROWS = 9 * INPUTS
CONVOLUTION_ROWS = 9 * CHANNELS
BLOCK_ROWS = 2 * (CONVOLUTION_ROWS + 1) + POOLED
FEATURES = POOLED + 2
HEAD_ROWS = CHANNELS + 1 + POOLED + 5 + FEATURES + 2

# Activations that are not planes, as offsets in numbers.
BASE_AT = 0
NUMBERS_AT = BASE_AT + CHANNELS
HIDDEN_AT = NUMBERS_AT + CHANNELS
FEATURES_AT = HIDDEN_AT + CHANNELS
LOGITS_AT = FEATURES_AT + 3 * CHANNELS
OWNERS_AT = LOGITS_AT + MAX_CELLS
POOLS_AT = OWNERS_AT + MAX_CELLS
SMALL_SIZE = POOLS_AT + (MAX_BLOCKS + 1) * POOLED
VALUE, PASS_LOGIT = 0, 1  # in the numbers
# Points that count as 1.
SCORE_SCALE, KOMI_SCALE = 10.0, 20.0


@dataclass(frozen=True)
class NetworkShape:
    blocks: int

    @property
    def rows(self) -> int:
        return STEM_ROWS + 1 + self.blocks * BLOCK_ROWS + HEAD_ROWS

    @property
    def parameters(self) -> int:
        return self.rows * CHANNELS

    @property
    def planes(self) -> int:
        return 2 * self.blocks + 2

    def buffer_size(self, width: int, height: int) -> int:
        """Return the size of all activations and the inputs, in numbers."""
        return SMALL_SIZE + cells(width, height) * (self.planes * CHANNELS + INPUTS)

    def inputs_at(self, width: int, height: int) -> int:
        return SMALL_SIZE + cells(width, height) * self.planes * CHANNELS


def cells(width: int, height: int) -> int:
    return (height + 2) * (width + 1) + CELL_MARGIN
