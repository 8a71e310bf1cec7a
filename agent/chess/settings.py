"""What a user sets of the chess engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.chess.evaluations import USUAL
from agent.chess.levels import FULL, LEAST_ELO, Level, skill_of
from agent.chess.parts import ALPHABETA, MCTS
from agent.evaluation import Evaluation
from agent.machine import usable_cores

if TYPE_CHECKING:
    from agent.chess.foreign_tables import GaviotaTables, SyzygyTables

# Who can be chosen to search, and how Monte Carlo tree search can choose its move.
SEARCHES = (ALPHABETA, MCTS)
FINAL_CHOICES = ("visits", "value", "bound")

# The table of a search as long as nothing else is asked for.
USUAL_MEGABYTES = 16


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user sets.

    megabytes: the hash table's, or the tree's; own_tables: whether our endgame tables are used.
    """

    megabytes: int = USUAL_MEGABYTES
    threads: int = 1
    evaluation: Evaluation = USUAL
    search: str = ALPHABETA
    final_choice: str = "visits"
    skill: int = int(FULL)
    limit_strength: bool = False
    elo: int = LEAST_ELO
    own_tables: bool = True
    gaviota: GaviotaTables | None = None
    syzygy: SyzygyTables | None = None

    @property
    def level(self) -> Level | None:
        """The level to play at, None to play as well as can be."""
        skill = skill_of(self.elo) if self.limit_strength else self.skill
        return Level(skill) if skill < FULL else None

    @property
    def threads_in_use(self) -> int:
        """How many threads search.

        No more than there are cores: they would take turns, and the one that decides would wait
        for its own. Levels, whose nodes are few, are played by one; and an evaluation in Python,
        of which the interpreter runs one at a time, is asked by one.
        """
        if self.level is not None or self.evaluation.python is not None:
            return 1
        return min(self.threads, usable_cores()) if self.threads > 1 else 1
