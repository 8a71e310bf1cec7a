"""Chess positions as arrays from the point of view of the side to move."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import chess
import numpy as np
import numpy.typing as npt

from agent.evaluation_types import Evaluation
from agent.games.batch_evaluation import BatchEvaluation
from agent.games.game_batch import PaddedMoves, Priors, Values, evaluate_batch

NO_SQUARE = 64
NO_MOVE = -1
_FLIP = 56  # XOR with this value mirrors a square vertically


@dataclass(frozen=True)
class ChessBatch(PaddedMoves):
    """A batch of positions. Each board is oriented so that the side to move plays upwards.

    Squares are numbered from a1 = 0 and b1 = 1 to h8 = 63. Bit s of a bitboard stands for square s.
    The batch has n positions.

    - `pieces`: uint64 (n, 12), bitboards of the pawns, knights, bishops, rooks, queens and king of
      the side to move, then of the opponent.
    - `turns`: int64 (n,), 0 if White is to move, 1 if Black is to move.
    - `castling`: uint64 (n,), the squares of the rooks that may still castle.
    - `en_passant`: int64 (n,), the en passant target square if a pawn attacks it, otherwise 64.
    - `halfmoves`: int64 (n,), the number of plies since the last capture or pawn move.
    - `moves`: int32 (n, width), the legal moves as from + 64 * to + 4096 * promotion, padded with
      -1. The promotion is 2 (knight) to 5 (queen) as in python-chess, or 0. Castling is encoded as
      a move of the king to the square of its own rook.
    - `counts`: int64 (n,), the number of legal moves.
    """

    pieces: npt.NDArray[np.uint64]
    turns: npt.NDArray[np.int64]
    castling: npt.NDArray[np.uint64]
    en_passant: npt.NDArray[np.int64]
    halfmoves: npt.NDArray[np.int64]
    moves: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]

    def planes(self) -> npt.NDArray[np.float32]:
        """Return the pieces as float32 (n, 12, 64), with 1 for an occupied square."""
        octets = np.ascontiguousarray(self.pieces, "<u8").view(np.uint8)
        bits = np.unpackbits(octets, axis=-1, bitorder="little")
        return bits.reshape(-1, 12, 64).astype(np.float32)


def oriented_batch(
    kinds: npt.NDArray[np.uint64],
    sides: npt.NDArray[np.uint64],
    castling: npt.NDArray[np.uint64],
    numbers: npt.NDArray[np.int64],
    moves: npt.NDArray[np.int32],
) -> ChessBatch:
    """Convert arrays for n positions from White's point of view to a batch.

    - `kinds`: (n, 6), bitboards of all pawns, knights, bishops, rooks, queens and kings.
    - `sides`: (n, 2), bitboards of White's and Black's pieces.
    - `castling`: (n,), as in `ChessBatch`.
    - `numbers`: (n, 4), the side to move, en passant square, halfmove clock and count of moves.
    - `moves`: (n, width), as in `ChessBatch`. The padding may have any value.
    """
    turns, en_passant, halfmoves, counts = (numbers[:, i].copy() for i in range(4))
    rows = np.arange(len(turns))
    own, others = sides[rows, turns], sides[rows, 1 - turns]
    pieces = np.concatenate([kinds & own[:, None], kinds & others[:, None]], axis=1)
    black = turns == 1
    # Each byte of a bitboard is one rank.
    pieces[black] = pieces[black].byteswap()
    castling = np.where(black, castling.byteswap(), castling)
    flip = np.where(black, _FLIP, 0)
    en_passant = np.where(en_passant == NO_SQUARE, NO_SQUARE, en_passant ^ flip)
    width = int(counts.max(initial=0))
    squares = (flip | flip << 6).astype(np.int32)
    moves = moves[:, :width] ^ squares[:, None]
    moves[np.arange(width) >= counts[:, None]] = NO_MOVE
    return ChessBatch(pieces, turns, castling, en_passant, halfmoves, moves, counts)


def batch_from_boards(
    boards: Sequence[chess.Board], moves: Sequence[Sequence[chess.Move]] | None = None
) -> ChessBatch:
    """Convert boards to a batch. `moves` optionally sets the order of the legal moves."""
    lists = moves if moves is not None else [list(board.legal_moves) for board in boards]
    counts = [len(legal) for legal in lists]
    kinds = [
        (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
        for board in boards
    ]
    sides = [(board.occupied_co[chess.WHITE], board.occupied_co[chess.BLACK]) for board in boards]
    numbers = [
        (int(not board.turn), _en_passant(board), board.halfmove_clock, count)
        for board, count in zip(boards, counts, strict=True)
    ]
    encoded = np.zeros((len(boards), max(counts, default=0)), np.int32)
    for row, (board, legal) in enumerate(zip(boards, lists, strict=True)):
        encoded[row, : len(legal)] = [_encode_move(board, move) for move in legal]
    return oriented_batch(
        np.array(kinds, np.uint64).reshape(-1, 6),
        np.array(sides, np.uint64).reshape(-1, 2),
        np.array([board.clean_castling_rights() for board in boards], np.uint64),
        np.array(numbers, np.int64).reshape(-1, 4),
        encoded,
    )


def as_board_evaluation(evaluation: Evaluation) -> Callable[[chess.Board], int]:
    """Convert a batched evaluation to a function of one board that returns centipawns.

    The function returns 0 if the board has no legal moves.
    """

    def evaluate(board: chess.Board) -> int:
        moves = list(board.legal_moves)
        if not moves:  # batches contain only positions with legal moves
            return 0
        values, _ = evaluate_batch(evaluation, batch_from_boards([board], [moves]))
        return round(float(values[0]))

    return evaluate


def chess_batch_evaluation(evaluation: Evaluation, win_cp: float) -> BatchEvaluation:
    """Convert a batched evaluation in centipawns to an evaluation of `Chess` games.

    Values are clamped to ±`win_cp` and divided by `win_cp`.
    """

    def encode(game: Any, moves: list[chess.Move]) -> tuple[chess.Board, list[chess.Move]]:
        return game.board.copy(stack=False), moves

    def evaluate(
        positions: Sequence[tuple[chess.Board, list[chess.Move]]],
    ) -> tuple[Values, Priors | None]:
        boards, moves = zip(*positions, strict=True)
        values, priors = evaluate_batch(evaluation, batch_from_boards(boards, moves))
        return np.clip(values, -win_cp, win_cp) / win_cp, priors

    return BatchEvaluation(encode, evaluate, evaluation.batch)


def _en_passant(board: chess.Board) -> int:
    square = board.ep_square
    if square is None:
        return NO_SQUARE
    capturers = chess.BB_PAWN_ATTACKS[not board.turn][square]
    return square if capturers & board.pawns & board.occupied_co[board.turn] else NO_SQUARE


def _encode_move(board: chess.Board, move: chess.Move) -> int:
    """Encode a move as in `ChessBatch.moves`, but from White's point of view."""
    target = move.to_square
    if board.is_castling(move) and not board.occupied_co[board.turn] & chess.BB_SQUARES[target]:
        rank = move.from_square & _FLIP
        rooks = board.clean_castling_rights() & chess.BB_RANKS[rank >> 3]
        kingside = target > move.from_square
        target = chess.msb(rooks) if kingside else chess.lsb(rooks)
    return move.from_square | target << 6 | (move.promotion or 0) << 12
