"""What a user sets of the chess engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.chess.engine.levels import MAX_SKILL, MIN_ELO, SkillLevel, skill_for_elo
from agent.chess.evaluation.loading import UNLOADED_DEFAULT
from agent.chess.parts import ALPHABETA, MCTS
from agent.evaluation_types import Evaluation
from agent.machine import usable_cores

if TYPE_CHECKING:
    from agent.chess.endgames.external_tablebases import GaviotaTablebase, SyzygyTablebase

# Who can be chosen to search, and how Monte Carlo tree search can choose its move.
SEARCHES = (ALPHABETA, MCTS)
FINAL_CHOICES = ("visits", "value", "bound")

# The table of a search as long as nothing else is asked for.
DEFAULT_MEGABYTES = 16


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user sets.

    megabytes: the hash table's, or the tree's; own_tables: whether our endgame tables are used.
    """

    megabytes: int = DEFAULT_MEGABYTES
    threads: int = 1
    evaluation: Evaluation = UNLOADED_DEFAULT
    search: str = ALPHABETA
    final_choice: str = "visits"
    skill: int = int(MAX_SKILL)
    limit_strength: bool = False
    elo: int = MIN_ELO
    builtin_tablebase: bool = True
    gaviota: GaviotaTablebase | None = None
    syzygy: SyzygyTablebase | None = None

    @property
    def level(self) -> SkillLevel | None:
        """The level to play at, None to play as well as can be."""
        skill = skill_for_elo(self.elo) if self.limit_strength else self.skill
        return SkillLevel(skill) if skill < MAX_SKILL else None

    @property
    def effective_threads(self) -> int:
        """How many threads search.

        No more than there are cores: they would take turns, and the one that decides would wait
        for its own. Levels, whose nodes are few, are played by one; and an evaluation in Python,
        of which the interpreter runs one at a time, is asked by one.
        """
        if self.level is not None or self.evaluation.python is not None:
            return 1
        return min(self.threads, usable_cores()) if self.threads > 1 else 1
