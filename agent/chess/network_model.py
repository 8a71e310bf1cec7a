"""A network evaluated in plain NumPy: slow and plain, what the kernel is held against."""

import chess
import numpy as np
import numpy.typing as npt

from agent.chess.network_format import NEURON_ONE, SCORE_ONE, WEIGHT_ONE, Network

_KINDS = len(chess.PIECE_TYPES)
_MOST_PIECES = 32
_TURN_RANKS, _MIRROR_FILES = 56, 7


def inputs(board: chess.Board, view: chess.Color) -> list[int]:
    """Return the inputs that are set as a side sees the board, in ascending order."""
    king = board.king(view)
    if king is None:
        raise ValueError("both sides need a king")
    turned = 0 if view else _TURN_RANKS
    turned ^= _MIRROR_FILES if chess.square_file(king) > chess.FILE_NAMES.index("d") else 0
    return sorted(
        (_KINDS * (piece.color != view) + piece.piece_type - 1) * 64 + (square ^ turned)
        for square, piece in board.piece_map().items()
    )


def bucket(pieces: int, buckets: int) -> int:
    """Return which of the outputs judges a position of so many pieces, kings included."""
    return (min(pieces, _MOST_PIECES) - 1) * buckets // _MOST_PIECES


def accumulate(network: Network, board: chess.Board, view: chess.Color) -> npt.NDArray[np.int64]:
    """Return what the neurons of a view sum up."""
    weights = network.weights[0]
    rows = weights["inputs"][inputs(board, view)].astype(np.int64)
    total: npt.NDArray[np.int64] = weights["biases"] + rows.sum(axis=0)
    return total


def evaluate(network: Network, board: chess.Board) -> int:
    """Return the network's score of a position: centipawns for the side to move."""
    weights = network.weights[0]
    views = [accumulate(network, board, view) for view in (board.turn, not board.turn)]
    active = np.clip(np.stack(views), 0, NEURON_ONE)
    chosen = bucket(chess.popcount(board.occupied), network.buckets)
    total = int((active**2 * weights["outputs"][chosen].astype(np.int64)).sum())
    value = total // NEURON_ONE + int(weights["output_biases"][chosen])
    return value * SCORE_ONE // (NEURON_ONE * WEIGHT_ONE)
