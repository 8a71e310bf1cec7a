"""The terms of the hand-written evaluation: the order of the weights, and their sum.

A packed score has the endgame part in the upper half of an integer and the middlegame part in the
lower half, so that one addition adds both.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from agent.chess.board.attacks import king_square
from agent.chess.board.records import Position
from agent.chess.evaluation.weights import WEIGHTS
from agent.kernel.decorators import kernel

# The weights of all terms are concatenated in the order of `WEIGHTS`.
TERM_OFFSETS: dict[str, int] = {}
_size = 0
for _name, _weights in WEIGHTS.items():
    TERM_OFFSETS[_name] = _size
    _size += len(_weights.values)
WEIGHT_COUNT = _size

_PACKED_WEIGHTS = np.array(
    [mg + (eg << 32) for term in WEIGHTS.values() for mg, eg in term.values], dtype=np.int64
)

# The count of each weight, by side and index; None if it is not needed.
Trace: TypeAlias = npt.NDArray[np.int64] | None

_MATERIAL = TERM_OFFSETS["material"]
_PLACEMENT = TERM_OFFSETS["pawn_placement"]
_PLACEMENT_SIZE = 128  # squares, with the kings on the same half of the board and on different ones
_KING_PLACEMENT = TERM_OFFSETS["king_placement"]


@kernel
def term(trace: Trace, side: int, index: int, n: int) -> int:
    """Return `n` times the packed weight at `index`, and add `n` to its count in the trace."""
    if trace is not None:
        trace[side, index] += n
    weight: int = _PACKED_WEIGHTS[index]
    return n * weight


@kernel
def square_orientation(position: Position, side: int) -> int:
    """Return a mask. The index of a square in the tables of `side` is `square ^ mask`.

    Ranks are counted from the side's first rank. Files are mirrored if its king is on the files a
    to d. If the kings are on different halves of the board, the mask selects the second table.
    """
    king, enemy_king = king_square(position, side), king_square(position, 1 - side)
    orientation = 0 if side == 0 else 56
    if not king & 4:
        orientation ^= 7
    return orientation | ((king ^ enemy_king) & 4) << 4


@kernel
def piece_square_score(trace: Trace, side: int, orientation: int, kind: int, square: int) -> int:
    """Return the packed score for the material and placement of a piece other than a king."""
    index = _PLACEMENT + _PLACEMENT_SIZE * kind + (square ^ orientation)
    return term(trace, side, index, 1) + term(trace, side, _MATERIAL + kind, 1)


@kernel
def king_square_score(trace: Trace, side: int, orientation: int, square: int) -> int:
    """Return the packed score for the placement of a king."""
    relative = square ^ orientation
    return term(trace, side, _KING_PLACEMENT + (relative >> 3 << 2 | relative & 3), 1)
