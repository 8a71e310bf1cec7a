from __future__ import annotations

from collections.abc import Iterator
from math import exp
from typing import TYPE_CHECKING

from agent.learning.opponent_game_record import (
    MAX_PLIES,
    MAX_SCORE,
    REPORTED,
    RULES,
    SCORE,
    GameRecord,
    centipawns,
    normalize_name,
)
from agent.limits import Score

if TYPE_CHECKING:
    import chess

# Shorter games are ignored.
MIN_PLIES = 8
# Maximum number of pieces, besides kings and pawns, in an endgame.
MAX_ENDGAME_PIECES = 6
# Scale of the logistic function that converts the last score, in centipawns, to points.
_SCALE = 120.0
_RESULTS = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}


class GameTracker:
    """Tracks one chess game through the requests of a session.

    UCI does not report results, so a missing result is inferred from the rules of chess or from the
    agent's last score.

    - `side`: the agent's colour.
    - `result`: the reported result in PGN notation, or "".
    - `forfeit`: whether the clock, a lost connection or an illegal move decided the game.
    """

    def __init__(self, board: chess.Board) -> None:
        self._board = board.copy()
        self.side = board.turn
        self._mixed = self._predicted = False
        self._scores: dict[int, int] = {}
        self._seconds: list[float] = []
        self._clocks: list[float] = []
        self._moved_at: float | None = None
        self._checked_plies = len(board.move_stack)
        self._accepted = self._declined = 0
        self.result = ""
        self.forfeit = False

    @property
    def board(self) -> chess.Board:
        return self._board

    def continues_with(self, board: chess.Board) -> bool:
        """Return whether `board` continues this game.

        The last two moves may differ, because the opponent's move may only have been predicted.
        """
        known, new = self._board.move_stack, board.move_stack
        common = max(len(known) - 2, 0)
        return (
            not self.result
            and len(new) >= len(known) - 2
            and (len(new) > 1 or len(known) <= 2)
            and new[:common] == known[:common]
            and start_fen(board) == start_fen(self._board)
        )

    def record_position(
        self, board: chess.Board, clock: float | None, now: float, *, guessed: bool = False
    ) -> None:
        """Record a position in which the agent must move. Times are in seconds.

        `clock` is the opponent's remaining time. `guessed` is true while pondering, when the
        opponent's last move is only predicted.
        """
        self._mixed |= board.turn != self.side
        self._board, self._predicted = board.copy(), guessed
        if guessed:
            return
        if self._moved_at is not None and len(self._seconds) < MAX_PLIES:
            self._seconds.append(round(max(now - self._moved_at, 0.0), 3))
        self._moved_at = None
        if clock is not None:
            self._clocks.append(clock)
        if len(board.move_stack) > self._checked_plies:
            self._count_repetition(board)
            self._checked_plies = len(board.move_stack)

    def record_move(self, move: chess.Move, score: Score | None, now: float) -> None:
        """Record the agent's move in the last position. `score` is None if it was not searched."""
        if score is not None:
            self._scores[len(self._board.move_stack)] = centipawns(score)
        self._board.push(move)
        self._moved_at = None if self._predicted else now

    def ignore_thinking_time(self) -> None:
        """Do not record the opponent's thinking time for its next move."""
        self._moved_at = None

    def _count_repetition(self, board: chess.Board) -> None:
        before = board.copy()
        played = before.pop()
        if repetitions := list(repeating_moves(before)):
            self._accepted += played in repetitions
            self._declined += played not in repetitions

    def to_record(self, opponent: str) -> GameRecord | None:
        """Return the record of the game, or None if it is too short or has no usable result."""
        moves = self._board.move_stack
        points, known = self._points()
        if self._mixed or points is None or len(moves) < MIN_PLIES:
            return None
        first = int(self._board.root().turn != self.side)
        plies = range(first, min(len(moves), MAX_PLIES), 2)
        return GameRecord(
            opponent=normalize_name(opponent),
            moves=tuple(move.uci() for move in moves[:MAX_PLIES]),
            side=first,
            points=round(points, 3),
            known=known,
            forfeit=self.forfeit and known == REPORTED,
            start=start_fen(self._board),
            scores=tuple(self._scores.get(ply) for ply in plies),
            seconds=tuple(self._seconds),
            lowest=self._lowest_clock_share(),
            accepted=self._accepted,
            declined=self._declined,
            endgame=self._endgame_ply(),
            repeated=points == 0.5 and (self._accepted > 0 or self._board.is_repetition(2)),
        )

    def _points(self) -> tuple[float | None, str]:
        board = self._board
        if outcome := board.outcome():
            winner = outcome.winner
            return (0.5 if winner is None else float(winner == self.side)), RULES
        if board.is_repetition(3) or board.is_fifty_moves():
            return 0.5, RULES
        if self.result in _RESULTS:
            points = _RESULTS[self.result]
            return (points if self.side else 1.0 - points), REPORTED
        if self._accepted and board.can_claim_threefold_repetition():
            return 0.5, SCORE
        if not self._scores:
            return None, SCORE
        last = self._scores[max(self._scores)]
        if abs(last) >= MAX_SCORE:
            return float(last > 0), SCORE
        return 1 / (1 + exp(-last / _SCALE)), SCORE

    def _lowest_clock_share(self) -> float | None:
        if not self._clocks or self._clocks[0] <= 0:
            return None
        return round(min(self._clocks) / self._clocks[0], 3)

    def _endgame_ply(self) -> int | None:
        board = self._board.root()
        for ply, move in enumerate(self._board.move_stack):
            pieces = board.occupied & ~(board.pawns | board.kings)
            if pieces.bit_count() <= MAX_ENDGAME_PIECES:
                return ply
            board.push(move)
        return None


def repeating_moves(board: chess.Board) -> Iterator[chess.Move]:
    """Generate the legal moves that lead to an earlier position of the game."""
    if board.halfmove_clock < 3 or len(board.move_stack) < 3:
        return
    for move in list(board.legal_moves):
        if not board.is_zeroing(move):
            board.push(move)
            repeats = board.is_repetition(2)
            board.pop()
            if repeats:
                yield move


def start_fen(board: chess.Board) -> str:
    """Return the initial position of the game, which is "" if it is the standard position."""
    import chess

    root = board.root()
    fen = root.fen()
    return "" if fen == chess.STARTING_FEN and not root.chess960 else fen
