from __future__ import annotations

from typing import TYPE_CHECKING

from agent.limits import Cp, Info
from agent.search.limited_strength import CANDIDATE_LINES, LimitedSearch

if TYPE_CHECKING:
    import chess

__all__ = ("CANDIDATE_LINES", "LimitedStrengthSearch")

_MATE = 2500  # value of a mate in centipawns
_MATE_STEP = 10  # centipawns subtracted for each move to mate


class LimitedStrengthSearch(LimitedSearch["chess.Board", "chess.Move"]):
    """Limits the playing strength of a chess search."""

    def _move_count(self, position: chess.Board) -> int:
        return position.legal_moves.count()

    def _key(self, position: chess.Board) -> str:
        return position.fen()

    def _value(self, info: Info[chess.Move]) -> float:
        """Convert a score to centipawns. A mate outweighs every other score."""
        score = info.score
        if isinstance(score, Cp):
            return min(max(score.value, -_MATE // 2), _MATE // 2)
        value = _MATE - _MATE_STEP * min(abs(score.moves), 50)
        return value if score.moves > 0 else -value
