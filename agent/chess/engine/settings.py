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

SEARCHES = (ALPHABETA, MCTS)
FINAL_CHOICES = ("visits", "value", "bound")  # how Monte Carlo tree search chooses its move

DEFAULT_MEGABYTES = 64


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the chess engine that the user can change.

    `megabytes` is the size of the hash table or the MCTS tree. `elo` is used only if
    `limit_strength` is true.
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
        """The skill level, or None for full strength."""
        skill = skill_for_elo(self.elo) if self.limit_strength else self.skill
        return SkillLevel(skill) if skill < MAX_SKILL else None

    @property
    def effective_threads(self) -> int:
        """Number of search threads, at most one per CPU core.

        Limited strength and Python evaluations (because of the GIL) use one thread.
        """
        if self.level is not None or self.evaluation.python is not None:
            return 1
        return min(self.threads, usable_cores()) if self.threads > 1 else 1
