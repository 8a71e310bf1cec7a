"""The terms of the hand-made evaluation: where their weights lie, and how they are counted.

A weight and its multiples are one number, the middlegame's part in the lower half and the
endgame's above, so that both are added at once.

Every term is added through `term`. Given a trace, that notes too how often each weight counted,
for each side, so that the weights can be fitted to positions; the evaluation of the search has
none, and the compiler leaves the notes out.
"""

from typing import Any

import numpy as np

from agent.chess.records import KING
from agent.chess.weights import WEIGHTS
from agent.kernel import kernel

# Each term's weights lie one after the other, in the order of `WEIGHTS`.
PLACES: dict[str, int] = {}
_size = 0
for _name, _weights in WEIGHTS.items():
    PLACES[_name] = _size
    _size += len(_weights.values)
TERMS = _size  # weights in all

_PAIRS = np.array(
    [mg + (eg << 32) for term in WEIGHTS.values() for mg, eg in term.values], dtype=np.int64
)

_MATERIAL = PLACES["material"]
_PLACEMENT = PLACES["pawn_placement"]
_PLACEMENT_SIZE = 32


@kernel
def term(trace: Any, side: int, index: int, n: int) -> int:
    """Return `n` times the weight at `index`; note it in the trace of (side, weight), if any."""
    if trace is not None:
        trace[side, index] += n
    return n * _PAIRS[index]


@kernel
def placed(trace: Any, side: int, kind: int, square: int) -> int:
    """Score a piece where it stands: material and placement."""
    seen = square if side == 0 else square ^ 56
    file = min(seen & 7, 7 - (seen & 7))
    place = _PLACEMENT + _PLACEMENT_SIZE * kind + 4 * (seen >> 3) + file
    score = term(trace, side, place, 1)
    return score if kind == KING else score + term(trace, side, _MATERIAL + kind, 1)
