"""The terms of the hand-made evaluation: where their weights lie, and how they are counted.

A weight and its multiples are one number, the middlegame's part in the lower half and the
endgame's above, so that both are added at once.

Every term is added through `term`. Given a trace, that notes too how often each weight counted,
for each side, so that the weights can be fitted to positions; the evaluation of the search has
none, and the compiler leaves the notes out.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from agent.chess.board.attacks import king_square
from agent.chess.board.records import Position
from agent.chess.evaluation.weights import WEIGHTS
from agent.kernel.decorators import kernel

# Each term's weights lie one after the other, in the order of `WEIGHTS`.
TERM_OFFSETS: dict[str, int] = {}
_size = 0
for _name, _weights in WEIGHTS.items():
    TERM_OFFSETS[_name] = _size
    _size += len(_weights.values)
WEIGHT_COUNT = _size  # weights in all

_PACKED_WEIGHTS = np.array(
    [mg + (eg << 32) for term in WEIGHTS.values() for mg, eg in term.values], dtype=np.int64
)

# How often each weight counted, by side and place; None where nobody asks.
Trace: TypeAlias = npt.NDArray[np.int64] | None

_MATERIAL = TERM_OFFSETS["material"]
_PLACEMENT = TERM_OFFSETS["pawn_placement"]
_PLACEMENT_SIZE = 128  # squares, with the kings on the same half of the board and on two
_KING_PLACEMENT = TERM_OFFSETS["king_placement"]


@kernel
def term(trace: Trace, side: int, index: int, n: int) -> int:
    """Return `n` times the weight at `index`; note it in the trace of (side, weight), if any."""
    if trace is not None:
        trace[side, index] += n
    weight: int = _PACKED_WEIGHTS[index]
    return n * weight


@kernel
def square_orientation(position: Position, side: int) -> int:
    """Return what turns a square into its place in the side's tables, by exclusive or.

    The board is seen from the side's first rank up, mirrored if its king is on the files a to d;
    64 is added if the kings are on different halves.
    """
    king, enemy_king = king_square(position, side), king_square(position, 1 - side)
    orientation = 0 if side == 0 else 56
    if not king & 4:
        orientation ^= 7
    return orientation | ((king ^ enemy_king) & 4) << 4


@kernel
def piece_square_score(trace: Trace, side: int, orientation: int, kind: int, square: int) -> int:
    """Score a piece other than a king where it stands: material and placement."""
    place = _PLACEMENT + _PLACEMENT_SIZE * kind + (square ^ orientation)
    return term(trace, side, place, 1) + term(trace, side, _MATERIAL + kind, 1)


@kernel
def king_square_score(trace: Trace, side: int, orientation: int, square: int) -> int:
    """Score a king where it stands: its tables have the files e to h only."""
    seen = square ^ orientation
    return term(trace, side, _KING_PLACEMENT + (seen >> 3 << 2 | seen & 3), 1)
