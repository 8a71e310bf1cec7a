"""When a lost game is given up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agent.limits import Info
from protocols.gtp.confidence_bounds import upper_confidence_bound


@dataclass(frozen=True, slots=True)
class ResignPolicy:
    """Below which share of the wins a player resigns, and after how many own moves in a row."""

    threshold: float = 0.05
    consecutive_moves: int = 2


DEFAULT_RESIGN_POLICY = ResignPolicy()


class ResignationTracker:
    """How long each side of a game has looked lost."""

    def __init__(self) -> None:
        self._lost = [0, 0]

    def clear(self) -> None:
        """Forget what was: another game, or another way on from an earlier position."""
        self._lost = [0, 0]

    def should_resign(self, player: int, info: Info[Any] | None, rate: ResignPolicy) -> bool:
        """Take note of what a player's move promises; tell whether the game is to be given up.

        What was not searched, or not enough to be clear, is never a reason.
        """
        lost = info is not None and info.visits > 0 and winrate_upper_bound(info) < rate.threshold
        self._lost[player] = self._lost[player] + 1 if lost else 0
        return self._lost[player] >= rate.consecutive_moves


def winrate_upper_bound(info: Info[Any]) -> float:
    """Return what the share of the wins very probably is at most."""
    if info.expected_outcome is None:
        return 1.0
    return upper_confidence_bound((info.expected_outcome + 1) / 2, info.visits)
