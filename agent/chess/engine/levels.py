"""Skill levels, which limit the playing strength.

A limited search visits few nodes and then picks a random move. Better moves are more likely, and
bad moves are excluded. The limit is in nodes, so the strength is the same on every machine.
"""

from dataclasses import dataclass
from itertools import pairwise

MAX_SKILL = 20.0  # full strength

_MIN_NODES = 40
_DOUBLINGS_PER_SKILL = 0.7  # doublings of the node limit per skill point
_TEMPERATURE = 110.0  # centipawns at skill 0
_MARGIN = 2.0  # multiples of the temperature

# Skill and Elo, on the scale of Stockfish's UCI_Elo, measured by `benchmarks/levels.py`. The Elo of
# the last entry, full strength, depends on the time control. Levels below 0 were measured against
# each other, since Stockfish has none that are as weak (see benchmarks/matches.md).
ELO_CALIBRATION = (
    (-10.0, 550),
    (-6.0, 810),
    (-3.0, 1090),
    (0.0, 1315),
    (4.0, 1760),
    (8.0, 1860),
    (12.0, 2095),
    (MAX_SKILL, 2970),
)
MIN_ELO, MAX_ELO = 600, ELO_CALIBRATION[-1][1]


def skill_for_elo(elo: int) -> float:
    """Return the skill for an Elo rating, interpolated between measured values."""
    for (low, low_elo), (high, high_elo) in pairwise(ELO_CALIBRATION):
        if elo <= high_elo:
            share = (elo - low_elo) / (high_elo - low_elo)
            return low + (high - low) * max(share, 0.0)
    return MAX_SKILL


@dataclass(frozen=True, slots=True)
class SkillLevel:
    """A limited playing strength. `skill` is less than MAX_SKILL.

    Below 0, a search visits as few nodes as at 0, but chooses among more and worse moves.
    """

    skill: float

    @property
    def nodes(self) -> int:
        """Soft node limit: no new iteration starts after this number of nodes."""
        return round(_MIN_NODES * 2 ** (_DOUBLINGS_PER_SKILL * max(self.skill, 0.0)))

    @property
    def candidates(self) -> int:
        """The number of moves to choose from."""
        # Imported here, as the UCI options need only the numbers of levels.
        from agent.search.limited_strength import CANDIDATE_LINES

        return CANDIDATE_LINES + round(max(-self.skill, 0.0))

    @property
    def temperature(self) -> float:
        """Loss in centipawns that divides a move's probability by e."""
        return _TEMPERATURE * (1 - self.skill / MAX_SKILL) ** 2

    @property
    def margin(self) -> float:
        """Maximum difference in centipawns between the best move and the chosen move."""
        return _MARGIN * self.temperature
