"""Positions of chess as arrays, all seen from the side to move: what batched evaluations take."""

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
_FLIP = 56  # what turns a square upside down, by exclusive or


@dataclass(frozen=True)
class ChessBatch(PaddedMoves):
    """Positions, each turned so that the side to move plays up the board, as White does.

    Squares are numbered from a1 = 0 and b1 = 1 to h8 = 63; bit s of a bitboard is square s.

    pieces: uint64 (n, 12), bitboards: the mover's pawns, knights, bishops, rooks, queens and king,
    then the other side's. turns: int64 (n,), 0 where White is to move, 1 where Black is. castling:
    uint64 (n,), the squares of the rooks that may still castle. en_passant: int64 (n,), the square
    that a pawn has jumped over, with a pawn beside that may take it; 64 if there is none.
    halfmoves: int64 (n,), since the last capture or pawn's move. moves: int32 (n, width), the legal
    moves, from + 64 * to + 4096 * promotion (2 for a knight to 5 for a queen, as in python-chess;
    0 for none), -1 beyond the last; castling is the king's move onto his own rook. counts: int64
    (n,), how many moves there are.
    """

    pieces: npt.NDArray[np.uint64]
    turns: npt.NDArray[np.int64]
    castling: npt.NDArray[np.uint64]
    en_passant: npt.NDArray[np.int64]
    halfmoves: npt.NDArray[np.int64]
    moves: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]

    def planes(self) -> npt.NDArray[np.float32]:
        """Return the pieces as float32 (n, 12, 64): 1 where one stands, 0 elsewhere."""
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
    """Make a batch of positions as White sees them.

    kinds: (n, 6), bitboards of both sides' pawns to kings; sides: (n, 2), of White's and Black's
    pieces; castling: (n,). numbers: (n, 4), turn, en passant square, halfmoves, count of moves.
    moves: (n, at least the greatest count), as in a batch; what is beyond the count is left out.
    """
    turns, en_passant, halfmoves, counts = (numbers[:, i].copy() for i in range(4))
    rows = np.arange(len(turns))
    own, others = sides[rows, turns], sides[rows, 1 - turns]
    pieces = np.concatenate([kinds & own[:, None], kinds & others[:, None]], axis=1)
    black = turns == 1
    # The ranks of a bitboard are its bytes.
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
    """Make a batch of boards. moves: their legal moves, in another order than the boards'."""
    lists = moves if moves is not None else [list(board.legal_moves) for board in boards]
    counts = [len(each) for each in lists]
    kinds = [
        (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
        for board in boards
    ]
    sides = [(board.occupied_co[chess.WHITE], board.occupied_co[chess.BLACK]) for board in boards]
    numbers = [
        (int(not board.turn), _en_passant(board), board.halfmove_clock, count)
        for board, count in zip(boards, counts, strict=True)
    ]
    written = np.zeros((len(boards), max(counts, default=0)), np.int32)
    for row, (board, each) in enumerate(zip(boards, lists, strict=True)):
        written[row, : len(each)] = [_encode_move(board, move) for move in each]
    return oriented_batch(
        np.array(kinds, np.uint64).reshape(-1, 6),
        np.array(sides, np.uint64).reshape(-1, 2),
        np.array([board.clean_castling_rights() for board in boards], np.uint64),
        np.array(numbers, np.int64).reshape(-1, 4),
        written,
    )


def as_board_evaluation(evaluation: Evaluation) -> Callable[[chess.Board], int]:
    """Return a plain function of a board, in whole centipawns, that is asked in batches of one.

    A position without legal moves is worth 0: what mate and stalemate are worth, the rules say.
    """

    def evaluate(board: chess.Board) -> int:
        moves = list(board.legal_moves)
        if not moves:  # of which no network knows: a batch's positions have some
            return 0
        values, _ = evaluate_batch(evaluation, batch_from_boards([board], [moves]))
        return round(float(values[0]))

    return evaluate


def chess_batch_evaluation(evaluation: Evaluation, most: float) -> BatchEvaluation:
    """Return a batched evaluation of games of chess. most: centipawns that count as a win."""

    def take(game: Any, moves: list[chess.Move]) -> tuple[chess.Board, list[chess.Move]]:
        return game.board.copy(stack=False), moves

    def answer(
        taken: Sequence[tuple[chess.Board, list[chess.Move]]],
    ) -> tuple[Values, Priors | None]:
        boards, moves = zip(*taken, strict=True)
        values, priors = evaluate_batch(evaluation, batch_from_boards(boards, moves))
        return np.clip(values, -most, most) / most, priors

    return BatchEvaluation(take, answer, evaluation.batch)


def _en_passant(board: chess.Board) -> int:
    """Return the square that was jumped over, where a pawn stands beside to take it."""
    square = board.ep_square
    if square is None:
        return NO_SQUARE
    capturers = chess.BB_PAWN_ATTACKS[not board.turn][square]
    return square if capturers & board.pawns & board.occupied_co[board.turn] else NO_SQUARE


def _encode_move(board: chess.Board, move: chess.Move) -> int:
    """Return a move as a batch has it, but as White sees it."""
    target = move.to_square
    if board.is_castling(move) and not board.occupied_co[board.turn] & chess.BB_SQUARES[target]:
        rank = move.from_square & _FLIP
        rooks = board.clean_castling_rights() & chess.BB_RANKS[rank >> 3]
        kingside = target > move.from_square
        target = chess.msb(rooks) if kingside else chess.lsb(rooks)
    return move.from_square | target << 6 | (move.promotion or 0) << 12
