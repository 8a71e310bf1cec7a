"""The input features and output buckets of the neural network.

The functions contain only arithmetic, so they accept integers and NumPy arrays and can be compiled
with `kernel`. Perspectives and sides are 0 for White and 1 for Black. The half of the board is 0
for the files a to d and 1 for the files e to h.
"""

from typing import Any

KINDS = 6
MAX_PIECES = 32
_SQUARES = 64
_FLIP_RANKS, _MIRROR_FILES = 56, 7


def board_half(square: Any) -> Any:
    """Return 0 if `square` is on the files a to d, and 1 if it is on the files e to h."""
    return square >> 2 & 1


def feature_index(perspective: Any, half: Any, side: Any, kind: Any, square: Any) -> Any:
    """Return the input index for a piece of type `kind` and colour `side` on `square`.

    `half` is the half of the board with the king of `perspective`.
    """
    oriented = square ^ _FLIP_RANKS * perspective ^ _MIRROR_FILES * half
    return (KINDS * (side ^ perspective) + kind) * _SQUARES + oriented


def output_bucket(pieces: Any, buckets: Any) -> Any:
    """Return the index of the output bucket for a position with `pieces` pieces.

    `pieces` includes the kings and is at most MAX_PIECES. `buckets` is the number of output
    buckets.
    """
    return (pieces - 1) * buckets // MAX_PIECES
