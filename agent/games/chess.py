"""Chess, based on the `chess` package. Player 0 is White."""

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

import chess

from agent.evaluation_types import Evaluation
from agent.game import MoveClass
from agent.games.fen import board_from_fen, position_faults
from agent.games.plain_chess import PlainChess
from agent.games.plain_chess import evaluate as evaluate_board
from agent.io.message import Message

if TYPE_CHECKING:
    from agent.games.batch_evaluation import BatchEvaluation

# The key includes the fifty-move clock only after this many plies, where a search could reach the
# limit.
RECENT_PLIES = 60
# Upper limit of every evaluation in centipawns. A clear lead is a fraction of this value.
WIN_CP = 30_000
CLEAR_LEAD_CP = 200


class Chess(PlainChess):
    """A chess position with its move history. Raise ValueError if `fen` is invalid.

    The game is drawn by threefold repetition, the fifty-move rule or insufficient material.
    """

    clear_lead = CLEAR_LEAD_CP / WIN_CP

    def __init__(self, fen: str = chess.STARTING_FEN) -> None:
        try:
            board = board_from_fen(fen)
        except ValueError as error:
            raise ValueError(Message("invalid FEN {!r}: {}", fen, error)) from None
        if not board.is_valid():
            raise ValueError(Message("invalid FEN {!r}: {}", fen, position_faults(board)))
        super().__init__(board)

    def moves(self) -> list[chess.Move]:
        """Return all legal moves, or [] if the game is over."""
        return [] if self.quick_outcome() is not None else super().moves()

    def outcome(self) -> float | None:
        """Return 1 if White won, -1 if Black won, 0 for a draw, None if the game is not over."""
        legal = super().moves()
        if not legal and self.board.is_check():
            return -1 if self.board.turn else 1
        return 0 if not legal else self.quick_outcome()

    def key(self) -> Hashable:
        """Return the position, its repetition count, and the halfmove clock if near the limit."""
        return (
            super().key(),
            self._repetition_count(),
            max(0, self.board.halfmove_clock - RECENT_PLIES),
        )

    def move_class(self, move: chess.Move) -> MoveClass:
        """Classify a move as a check, capture, threat, forward move or backward move."""
        board = self.board
        if board.gives_check(move):
            return MoveClass.CHECK
        if board.is_capture(move):
            return MoveClass.CAPTURE
        if self._threatens(move):
            return MoveClass.THREAT
        ahead = chess.square_rank(move.to_square) - chess.square_rank(move.from_square)
        if ahead == 0:
            return MoveClass.SIDEWAYS
        return MoveClass.FORWARD if (ahead > 0) == board.turn else MoveClass.BACKWARD

    def text(self, move: chess.Move) -> str:
        """Return the UCI notation of a move."""
        return move.uci()

    def __str__(self) -> str:
        return str(self.board)

    def _threatens(self, move: chess.Move) -> bool:
        board = self.board
        board.push(move)
        mover = board.piece_type_at(move.to_square) or chess.PAWN
        threatens = any(
            victim is not None
            and victim != chess.KING
            and (victim > mover or not board.is_attacked_by(board.turn, square))
            for square in board.attacks(move.to_square) & board.occupied_co[board.turn]
            for victim in [board.piece_type_at(square)]
        )
        board.pop()
        return threatens

    def _repetition_count(self) -> int:
        since = len(self._keys) - 1 - self.board.halfmove_clock
        return self._keys[max(0, since) :].count(self._keys[-1])

    def _is_repetition(self) -> bool:
        return self._repetition_count() >= 3

    def _is_insufficient_material(self) -> bool:
        return self.board.is_insufficient_material()

    def _is_fifty_moves(self) -> bool:
        return self.board.halfmove_clock >= 100


def evaluate(game: Chess) -> float:
    """Return the material and piece-square score of the player to move, divided by WIN_CP."""
    return evaluate_board(game.board) / WIN_CP


def adapt(function: Callable[[Any], float]) -> Callable[[Chess], float]:
    """Convert a `chess.Board` evaluation in centipawns to a `Chess` evaluation from -1 to 1."""

    def value(game: Chess) -> float:
        return max(-WIN_CP, min(WIN_CP, function(game.board))) / WIN_CP

    return value


def adapt_batched(evaluation: Evaluation) -> "BatchEvaluation":
    """Convert a user's batched evaluation in centipawns to a `BatchEvaluation` of `Chess` games."""
    from agent.games.chess_batch import chess_batch_evaluation  # lazy import: loads NumPy

    return chess_batch_evaluation(evaluation, WIN_CP)


GAME = Chess
