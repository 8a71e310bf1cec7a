"""A reference implementation of the neural network in NumPy."""

import chess
import numpy as np
import numpy.typing as npt

from agent.chess.board.packed_position import BLACK_PIECE, BLACK_TO_MOVE, CASTLING_ROOK
from agent.chess.evaluation.nnue_features import (
    KINDS,
    board_half,
    check_index,
    feature_index,
    output_bucket,
    pocket_index,
)
from agent.chess.evaluation.nnue_format import (
    INPUTS,
    MAX_PIECES,
    NEURON_SCALE,
    SCORE_SCALE,
    WEIGHT_SCALE,
    NnueNetwork,
)
from agent.games.variants import is_standard


def active_features(board: chess.Board, view: chess.Color) -> list[int]:
    """Return the sorted active inputs for the side `view`, one for each piece.

    The pieces in the pockets of crazyhouse are included, and the checks of three-check. Raise
    `ValueError` if the side needs a king and has none.
    """
    kings = board.kings & board.occupied_co[view]
    if not kings and is_standard(board):
        raise ValueError(f"{board.fen()}: missing king")
    half = board_half(chess.lsb(kings)) if kings else 0
    features = [
        feature_index(int(not view), half, int(not piece.color), piece.piece_type - 1, square)
        for square, piece in board.piece_map().items()
    ]
    for colour, pocket in enumerate(getattr(board, "pockets", ())):
        for kind in range(KINDS - 1):
            features += [pocket_index(int(colour != view), kind)] * pocket.count(kind + 1)
    for colour, remaining in enumerate(getattr(board, "remaining_checks", ())):
        features.append(check_index(int(colour != view), remaining))
    return sorted(features)


def bucket_index(pieces: int, buckets: int) -> int:
    """Return the index of the output bucket for `pieces` pieces, including kings."""
    index: int = output_bucket(min(pieces, MAX_PIECES), buckets)
    return index


def accumulate(
    network: NnueNetwork, board: chess.Board, view: chess.Color
) -> npt.NDArray[np.int64]:
    """Return the sums of the hidden neurons, before activation, for the perspective `view`."""
    weights = network.weights[0]
    rows = weights["inputs"][active_features(board, view)].astype(np.int64)
    total: npt.NDArray[np.int64] = weights["biases"] + rows.sum(axis=0)
    return total


def evaluate(network: NnueNetwork, board: chess.Board) -> int:
    """Return the network's score for a position in centipawns for the side to move."""
    pieces = chess.popcount(board.occupied)
    return bucket_scores(network, board)[bucket_index(pieces, network.buckets)]


def bucket_scores(network: NnueNetwork, board: chess.Board) -> list[int]:
    """Return the score of each output bucket in centipawns for the side to move."""
    weights = network.weights[0]
    views = [accumulate(network, board, view) for view in (board.turn, not board.turn)]
    active = np.clip(np.stack(views), 0, NEURON_SCALE)
    totals = (active**2 * weights["outputs"].astype(np.int64)).sum(axis=(1, 2))
    values = totals // NEURON_SCALE + weights["output_biases"]
    scores: list[int] = (values * SCORE_SCALE // (NEURON_SCALE * WEIGHT_SCALE)).tolist()
    return scores


def evaluate_batch(
    network: NnueNetwork, packed: npt.NDArray[np.void], batch: int = 4096
) -> npt.NDArray[np.int64]:
    """Return the same scores as `evaluate` for an array of packed positions."""
    weights = network.weights[0]
    # float32 represents integers below 2 ** 24 exactly.
    rows, biases = (weights[name].astype(np.float32) for name in ("inputs", "biases"))
    outputs = weights["outputs"].astype(np.int64)
    scores = np.zeros(len(packed), np.int64)
    for start in range(0, len(packed), batch):
        positions = packed[start : start + batch]
        black = positions["state"] >= BLACK_TO_MOVE
        sums = np.stack([active_feature_matrix(positions, view) @ rows + biases for view in (0, 1)])
        mover = np.where(black[:, None], sums[1], sums[0])
        other = np.where(black[:, None], sums[0], sums[1])
        active = np.clip(np.stack([mover, other], 1), 0, NEURON_SCALE).astype(np.int64)
        pieces = _bits(positions["occupied"]).sum(axis=1)
        bucket = output_bucket(pieces, network.buckets)
        total = np.einsum("pvn,pvn->p", active**2, outputs[bucket])
        value = total // NEURON_SCALE + weights["output_biases"][bucket]
        scores[start : start + batch] = value * SCORE_SCALE // (NEURON_SCALE * WEIGHT_SCALE)
    return scores


def active_feature_matrix(packed: npt.NDArray[np.void], view: int) -> npt.NDArray[np.float32]:
    """Return the network inputs (0 or 1) of packed positions, with shape (positions, INPUTS).

    `view` is 0 for White's perspective and 1 for Black's.
    """
    occupied = _bits(packed["occupied"])
    position, square = np.nonzero(occupied)
    piece_number = (np.cumsum(occupied, axis=1) - 1)[position, square]
    words = packed["pieces"][position, piece_number >> 4]
    piece = (words >> (4 * (piece_number & 15)).astype(np.uint64) & np.uint64(15)).astype(np.int64)
    side, kind = piece // BLACK_PIECE, piece % BLACK_PIECE
    kind[kind == CASTLING_ROOK] = chess.ROOK - 1
    kings = (kind == chess.KING - 1) & (side == view)
    half = np.zeros(len(packed), np.int64)
    half[position[kings]] = board_half(square[kings])
    features = np.zeros((len(packed), INPUTS), np.float32)
    features[position, feature_index(view, half[position], side, kind, square)] = 1
    return features


def _bits(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Return an array of shape (words, 64) with the bits of each word, lowest bit first."""
    octets = np.ascontiguousarray(words.astype("<u8"))[:, None].view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little").astype(np.int64)
