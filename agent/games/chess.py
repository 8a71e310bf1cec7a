"""Chess as a game like the others: the chess package's rules, with the draws of a game played.

It is drawn when a position comes for the third time, after fifty moves without a capture or a
pawn's move, and where nobody can mate. Player 0 is White; moves are written as in UCI.
"""

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

import chess

from agent.evaluation_types import Evaluation
from agent.game import MoveClass
from agent.games.plain_chess import PlainChess
from agent.games.plain_chess import evaluate as evaluate_board

if TYPE_CHECKING:
    from agent.games.batch_evaluation import BatchEvaluation

# The clock is part of a position's key only where a search can reach its end.
RECENT_PLIES = 60
# What every evaluation in centipawns stays below, and what of them is a clear lead.
WIN_CP = 30_000
CLEAR_LEAD_CP = 200


class Chess(PlainChess):
    """A chess position and its game, to be played to the end."""

    clear_lead = CLEAR_LEAD_CP / WIN_CP

    def __init__(self, fen: str = chess.STARTING_FEN) -> None:
        try:
            board = chess.Board(fen)
        except ValueError as error:
            raise ValueError(f"{fen!r} is no position of chess: {error}") from None
        if not board.is_valid():
            raise ValueError(f"{fen!r} is no position of chess: {board.status()!r}")
        super().__init__(board)

    def moves(self) -> list[chess.Move]:
        """Return all legal moves; none when the game is over."""
        return [] if self.quick_outcome() is not None else super().moves()

    def outcome(self) -> float | None:
        """Return 1 if White has won, -1 if Black has, 0 for a draw, None if the game goes on."""
        legal = super().moves()
        if not legal and self.board.is_check():
            return -1 if self.board.turn else 1
        return 0 if not legal else self.quick_outcome()

    def key(self) -> Hashable:
        """Return the position, how often it has come, and how near the fiftieth move is."""
        return (
            super().key(),
            self._repetition_count(),
            max(0, self.board.halfmove_clock - RECENT_PLIES),
        )

    def move_class(self, move: chess.Move) -> MoveClass:
        """Tell a check, a capture, a threat to win material, and where other moves go."""
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
        """Write a move as in UCI."""
        return move.uci()

    def __str__(self) -> str:
        return str(self.board)

    def _threatens(self, move: chess.Move) -> bool:
        """Tell whether the piece moved attacks a piece that is dearer, or not defended."""
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
        """Return how often the position has been on the board, this time included."""
        since = len(self._keys) - 1 - self.board.halfmove_clock
        return self._keys[max(0, since) :].count(self._keys[-1])

    def _is_repetition(self) -> bool:
        return self._repetition_count() >= 3

    def _is_insufficient_material(self) -> bool:
        return self.board.is_insufficient_material()

    def _is_fifty_moves(self) -> bool:
        return self.board.halfmove_clock >= 100


def evaluate(game: Chess) -> float:
    """Return the mover's material and placement as a share of a win."""
    return evaluate_board(game.board) / WIN_CP


def adapt(function: Callable[[Any], float]) -> Callable[[Chess], float]:
    """Make an evaluation of a function of the board that returns centipawns, as in the engine."""

    def value(game: Chess) -> float:
        return max(-WIN_CP, min(WIN_CP, function(game.board))) / WIN_CP

    return value


def adapt_batched(evaluation: Evaluation) -> "BatchEvaluation":
    """Make an evaluation of one that judges batches of boards, in centipawns, as in the engine."""
    from agent.games.chess_batch import chess_batch_evaluation  # it brings in NumPy

    return chess_batch_evaluation(evaluation, WIN_CP)


GAME = Chess
