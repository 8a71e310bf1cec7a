"""Piece counts and ply numbers of packed positions."""

import numpy as np
import numpy.typing as npt

from agent.chess.board.packed_position import BLACK_TO_MOVE
from kempelen.training.dataset_blocks import Packed


def piece_counts(positions: Packed) -> npt.NDArray[np.int64]:
    """Return the number of pieces on each board, including kings and pawns."""
    counts: npt.NDArray[np.int64] = np.bitwise_count(positions["occupied"]).astype(np.int64)
    return counts


def game_plies(positions: Packed) -> npt.NDArray[np.int64]:
    """Return the ply of each position, from 0, computed from the fullmove number."""
    black = positions["state"] >= BLACK_TO_MOVE
    moves = np.maximum(positions["fullmoves"].astype(np.int64), 1)  # some FENs count moves from 0
    plies: npt.NDArray[np.int64] = 2 * (moves - 1) + black
    return plies
