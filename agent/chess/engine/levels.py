"""Levels of play, for people and for other programs: a shallow look, and a choice among good moves.

A level searches few nodes, so that it overlooks what lies deep, and then plays one of the best
moves it knows, the likelier the better it looks, but none that it sees to be worse than the best
by more than a margin. Both shrink from level to level: a strong level errs finely and never drops
a piece for no reason. Nodes, not time, limit it, so it plays alike on any machine and clock that
leave it the moment it needs. LimitedStrengthSearch plays so.
"""

from dataclasses import dataclass
from itertools import pairwise

MAX_SKILL = 20.0  # the skill that plays as well as it can

_MIN_NODES = 40
_DOUBLINGS_PER_SKILL = 0.7  # doublings of the nodes from one skill to the next
_TEMPERATURE = 110.0  # centipawns at skill 0
_MARGIN = 2.0  # temperatures that a move may be worse than the best

# Skill and Elo on the scale of Stockfish's UCI_Elo, as `benchmarks/levels.py` measures them; the
# last, play without a limit, depends on the time it is given.
ELO_CALIBRATION = (
    (0.0, 1315),
    (4.0, 1760),
    (8.0, 1860),
    (12.0, 2095),
    (MAX_SKILL, 2970),
)
MIN_ELO, MAX_ELO = 1350, ELO_CALIBRATION[-1][1]


def skill_for_elo(elo: int) -> float:
    """Return the skill that plays at an Elo, between those that were measured."""
    for (low, low_elo), (high, high_elo) in pairwise(ELO_CALIBRATION):
        if elo <= high_elo:
            share = (elo - low_elo) / (high_elo - low_elo)
            return low + (high - low) * max(share, 0.0)
    return MAX_SKILL


@dataclass(frozen=True, slots=True)
class SkillLevel:
    """How well to play; skill: from 0 to less than FULL."""

    skill: float

    @property
    def nodes(self) -> int:
        """The nodes after which it looks no deeper."""
        return round(_MIN_NODES * 2 ** (_DOUBLINGS_PER_SKILL * self.skill))

    @property
    def temperature(self) -> float:
        """How many centipawns make a move e times less likely."""
        return _TEMPERATURE * (1 - self.skill / MAX_SKILL) ** 2

    @property
    def margin(self) -> float:
        """How many centipawns worse than the best a move may look."""
        return _MARGIN * self.temperature
