"""Which input of a network a piece sets, and which output judges a position.

All is arithmetic that plain numbers, NumPy's arrays and kernels do alike: `kernel` compiles these
functions as they are. Views and sides: 0 White, 1 Black. Halves of the board: 0 the files a to d.
"""

from typing import Any

KINDS = 6
MAX_PIECES = 32  # of a legal position
_SQUARES = 64
_FLIP_RANKS, _MIRROR_FILES = 56, 7


def board_half(square: Any) -> Any:
    """Return on which half of the board a square lies."""
    return square >> 2 & 1


def feature_index(perspective: Any, half: Any, side: Any, kind: Any, square: Any) -> Any:
    """Return the input that a side's piece on a square sets for a view.

    The view's own king stands on that half of the board.
    """
    turned = square ^ _FLIP_RANKS * perspective ^ _MIRROR_FILES * half
    return (KINDS * (side ^ perspective) + kind) * _SQUARES + turned


def output_bucket(pieces: Any, buckets: Any) -> Any:
    """Return which of the outputs judges a position of so many pieces, at most MAX_PIECES."""
    return (pieces - 1) * buckets // MAX_PIECES
