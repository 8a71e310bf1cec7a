"""Decide when the engine resigns a lost game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agent.limits import Info
from protocols.gtp.confidence_bounds import upper_confidence_bound


@dataclass(frozen=True, slots=True)
class ResignPolicy:
    """The policy to resign after `consecutive_moves` moves with win rates below `threshold`."""

    threshold: float = 0.05
    consecutive_moves: int = 2


DEFAULT_RESIGN_POLICY = ResignPolicy()


class ResignationTracker:
    """Counts each side's consecutive moves with a losing evaluation."""

    def __init__(self) -> None:
        self._lost = [0, 0]

    def clear(self) -> None:
        self._lost = [0, 0]

    def should_resign(self, player: int, info: Info[Any] | None, policy: ResignPolicy) -> bool:
        """Record the evaluation of a player's move, and return whether the player should resign."""
        lost = info is not None and info.visits > 0 and winrate_upper_bound(info) < policy.threshold
        self._lost[player] = self._lost[player] + 1 if lost else 0
        return self._lost[player] >= policy.consecutive_moves


def winrate_upper_bound(info: Info[Any]) -> float:
    """Return the upper 95 % confidence bound of the win rate, or 1 if the rate is unknown."""
    if info.expected_outcome is None:
        return 1.0
    return upper_confidence_bound((info.expected_outcome + 1) / 2, info.visits)
