"""When a game has ended by rule, and whether a draw that is offered suits us."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from agent.limits import Cp, Info, Mate, Score

if TYPE_CHECKING:
    import chess

FIFTY_MOVE_RULE_PLIES = 100
# A draw is welcome to whoever is behind by so many centipawns.
BEHIND_CENTIPAWNS = 50
# It is accepted, too, after so many moves of ours in a row that promised no more than EVEN
# centipawns to either side, from the move EARLIEST of the game on.
EVEN_CENTIPAWNS, EVEN_MOVE_COUNT, MIN_MOVE_NUMBER = 20, 8, 30


def result_by_rule(board: chess.Board) -> str | None:
    """Return how the game has ended by rule, as the protocol writes it; None if it has not.

    What has to be claimed, the third repetition and fifty moves, counts once it is on the board.
    """
    if not any(board.generate_legal_moves()):
        if not board.is_check():
            return "1/2-1/2 {Stalemate}"
        return "0-1 {Black mates}" if board.turn else "1-0 {White mates}"
    if board.is_insufficient_material():
        return "1/2-1/2 {Insufficient material}"
    if board.halfmove_clock >= FIFTY_MOVE_RULE_PLIES:
        return "1/2-1/2 {Draw by fifty move rule}"
    if board.is_repetition(3):
        return "1/2-1/2 {Draw by repetition}"
    return None


def is_claimable_draw(over: str | None) -> bool:
    """Tell whether the game ended by what has to be claimed: such a draw is offered, too."""
    return over is not None and over.endswith(("rule}", "repetition}"))


class DrawPolicy:
    """What our last moves promised, and so whether we would agree to a draw."""

    def __init__(self) -> None:
        self._scores: deque[Score] = deque(maxlen=EVEN_MOVE_COUNT)

    def clear(self) -> None:
        """Forget what was: another game, or another way on from an earlier position."""
        self._scores.clear()

    def record_score(self, info: Info[chess.Move] | None) -> None:
        """Take note of what a move of ours promises; one that was not searched says nothing."""
        if info is not None and info.nodes > 0:
            self._scores.append(info.score)

    def accepts(self, board: chess.Board, draw_value: int = 0) -> bool:
        """Tell whether a draw, worth so many centipawns against whom we play, suits us."""
        if board.halfmove_clock >= FIFTY_MOVE_RULE_PLIES or board.is_repetition(3):
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
        level = all(
            isinstance(each, Cp) and abs(each.value) <= EVEN_CENTIPAWNS for each in self._scores
        )
        return (
            level
            and len(self._scores) == EVEN_MOVE_COUNT
            and board.fullmove_number >= MIN_MOVE_NUMBER
        )
