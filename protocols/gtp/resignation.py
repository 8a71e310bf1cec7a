"""When a lost game is given up."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

from agent.limits import Info

# A mean of playouts lies on one side of its confidence bound but for one time in 40.
DEVIATIONS = 1.96


@dataclass(frozen=True, slots=True)
class ResignRate:
    """Below which share of the wins a player resigns, and after how many own moves in a row."""

    below: float = 0.05
    moves: int = 2


USUAL_RESIGN_RATE = ResignRate()


class Resignation:
    """How long each side of a game has looked lost."""

    def __init__(self) -> None:
        self._lost = [0, 0]

    def clear(self) -> None:
        """Forget what was: another game, or another way on from an earlier position."""
        self._lost = [0, 0]

    def given_up(self, player: int, info: Info[Any] | None, rate: ResignRate) -> bool:
        """Take note of what a player's move promises; tell whether the game is to be given up.

        What was not searched, or not enough to be clear, is never a reason.
        """
        lost = info is not None and info.visits > 0 and upper_bound(info) < rate.below
        self._lost[player] = self._lost[player] + 1 if lost else 0
        return self._lost[player] >= rate.moves


def upper_bound(info: Info[Any]) -> float:
    """Return what the share of the wins very probably is at most.

    Source: A. Agresti and B. Coull, 'Approximate is better than exact for interval estimation of
    binomial proportions' (1998): few playouts without a win prove little.
    """
    if info.expected is None:
        return 1.0
    square = DEVIATIONS**2
    number = info.visits + square
    rate = (info.visits * (info.expected + 1) / 2 + square / 2) / number
    return rate + DEVIATIONS * sqrt(rate * (1 - rate) / number)
