"""Determine game results by rule, and decide on draw offers."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from agent.games.variants import variant_outcome
from agent.limits import Cp, Info, Mate, Score

if TYPE_CHECKING:
    import chess

# A draw is accepted if the score is at least this far below the value of a draw.
BEHIND_CENTIPAWNS = 50
# A draw is also accepted after EVEN_MOVE_COUNT consecutive engine moves with scores within
# EVEN_CENTIPAWNS of 0, from move MIN_MOVE_NUMBER on.
EVEN_CENTIPAWNS, EVEN_MOVE_COUNT, MIN_MOVE_NUMBER = 20, 8, 30


def result_by_rule(board: chess.Board) -> str | None:
    """Return a result such as `1-0 {White mates}`, or None. Claimable draws count as results."""
    if (outcome := variant_outcome(board)) is not None:
        if outcome == 0:
            return "1/2-1/2 {Draw}"
        return "1-0 {White wins}" if (outcome > 0) == board.turn else "0-1 {Black wins}"
    if not any(board.generate_legal_moves()):
        if not board.is_check():
            return "1/2-1/2 {Stalemate}"
        return "0-1 {Black mates}" if board.turn else "1-0 {White mates}"
    if board.is_insufficient_material():
        return "1/2-1/2 {Insufficient material}"
    if board.is_fifty_moves():
        return "1/2-1/2 {Draw by fifty move rule}"
    if board.is_repetition(3):
        return "1/2-1/2 {Draw by repetition}"
    return None


def is_claimable_draw(result: str | None) -> bool:
    """Return whether a result is a draw that a player must claim."""
    return result is not None and result.endswith(("rule}", "repetition}"))


class DrawPolicy:
    """Decides on draw offers from the scores of the engine's last moves."""

    def __init__(self) -> None:
        self._scores: deque[Score] = deque(maxlen=EVEN_MOVE_COUNT)

    def clear(self) -> None:
        self._scores.clear()

    def record_score(self, info: Info[chess.Move] | None) -> None:
        """Record the score for the engine's move, if the move was searched."""
        if info is not None and info.nodes > 0:
            self._scores.append(info.score)

    def accepts(self, board: chess.Board, draw_value: int = 0) -> bool:
        """Return whether the engine accepts a draw, which is worth `draw_value` centipawns."""
        if board.is_fifty_moves() or board.is_repetition(3):
            return True
        if not self._scores:
            return False
        last = self._scores[-1]
        if isinstance(last, Mate):
            return last.moves <= 0
        if last.value <= draw_value - BEHIND_CENTIPAWNS:
            return True
        if draw_value <= -BEHIND_CENTIPAWNS:
            return False
        even = all(
            isinstance(score, Cp) and abs(score.value) <= EVEN_CENTIPAWNS for score in self._scores
        )
        return (
            even
            and len(self._scores) == EVEN_MOVE_COUNT
            and board.fullmove_number >= MIN_MOVE_NUMBER
        )
