"""What packed positions tell, many at a time."""

import numpy as np
import numpy.typing as npt

from agent.chess.board.packed_position import BLACK_TO_MOVE
from kempelen.training.dataset import Packed


def piece_counts(positions: Packed) -> npt.NDArray[np.int64]:
    """Return how many pieces there are, kings and pawns included."""
    counts: npt.NDArray[np.int64] = np.bitwise_count(positions["occupied"]).astype(np.int64)
    return counts


def game_plies(positions: Packed) -> npt.NDArray[np.int64]:
    """Return how many plies the games were old, by the number of the move."""
    black = positions["state"] >= BLACK_TO_MOVE
    moves = np.maximum(positions["fullmoves"].astype(np.int64), 1)  # some begin to count at 0
    plies: npt.NDArray[np.int64] = 2 * (moves - 1) + black
    return plies
