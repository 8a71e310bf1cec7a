"""The input features and output buckets of the network, for integers and NumPy arrays.

The functions of a variant are those of its own copy of this module.
"""

from typing import Any

from agent.chess.board.rules import RACE
from agent.chess.evaluation.nnue_format import MAX_PIECES

KINDS = 6
_SQUARES = 64
# In racing kings both sides run to the eighth rank.
_FLIP_RANKS: int = 0 if RACE else 56
_MIRROR_FILES = 7


def board_half(square: Any) -> Any:
    """Return 0 for a square on the files a to d, and 1 on the files e to h."""
    return square >> 2 & 1


def feature_index(perspective: Any, half: Any, side: Any, kind: Any, square: Any) -> Any:
    """Return the input index for a piece of type `kind` and colour `side` on `square`.

    `perspective` and `side` are 0 for White and 1 for Black. `half` is the `board_half` of the king
    of `perspective`.
    """
    oriented = square ^ _FLIP_RANKS * perspective ^ _MIRROR_FILES * half
    return (KINDS * (side ^ perspective) + kind) * _SQUARES + oriented


def pocket_index(side: Any, kind: Any) -> Any:
    """Return the input index for a piece in a pocket of crazyhouse, of own (0) or enemy pieces (1).

    It is an input of a pawn on the first rank, which no position uses.
    """
    return KINDS * side * _SQUARES + kind


def check_index(side: Any, remaining: Any) -> Any:
    """Return the input index for the checks that own (0) or enemy pieces must still give.

    These inputs of three-check, too, are those of pawns on the first rank.
    """
    return KINDS * side * _SQUARES + remaining


def output_bucket(pieces: Any, buckets: Any) -> Any:
    """Return the index of the output bucket for `pieces` pieces, including kings."""
    return (pieces - 1) * buckets // MAX_PIECES
