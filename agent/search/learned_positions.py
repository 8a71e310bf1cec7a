"""Permanent killer memory, which uses moves learned in earlier games at all nodes of the tree.

Source: the lecture notes 'Fundamentos de IA 10: Estrategia de juego'. A move whose outcome was
worse than predicted is stored with its position. If the position recurs, its stored value replaces
the search.
"""

from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from os import PathLike
from typing import Any, Generic, TypeVar

from agent.agent import AgentError
from agent.game import Game
from agent.learning.learned_move import LearnedMove
from agent.learning.learning_adapter import SURPRISE_THRESHOLD, LearningAdapter, parse_key
from agent.learning.position_learner import PositionLearner
from agent.learning.position_learning_searcher import DEPTH_MARGIN

Move = TypeVar("Move")


class LearnedPositions(Generic[Move]):
    """Learned moves, indexed by the keys of the positions after the moves."""

    def __init__(self, experience: PositionLearner[Game[Move], Move]) -> None:
        self.experience = experience
        self._read_count = 0
        self._learned_moves: dict[Hashable, LearnedMove] = {}

    @classmethod
    def from_file(
        cls,
        path: str | PathLike[str],
        game: Game[Any],
        surprise: float = SURPRISE_THRESHOLD,
        report: Callable[[str], None] = lambda message: None,
    ) -> "LearnedPositions[Any]":
        """Return the learned moves for a game. The file at `path` need not exist.

        `surprise` is the minimum prediction error for a move to be learned, as a fraction of a win.
        `report` receives messages about learned moves. Raise ValueError if the file is invalid or
        positions of the game cannot be stored.
        """
        experience = PositionLearner[Game[Any], Any](LearningAdapter(game, surprise), report)
        try:
            experience.open_file(str(path))
        except AgentError as error:
            raise ValueError(str(error)) from None
        return cls(experience)

    def lessons(self) -> Mapping[Hashable, LearnedMove]:
        """Return the current learned moves by the key of the position after the move."""
        order, lessons = self.experience.resulting_positions, self.experience.by_resulting_position
        for text in order[self._read_count :]:
            with suppress(KeyError, RecursionError, TypeError, ValueError):  # invalid key
                self._learned_moves[parse_key(text)] = lessons[text]
        self._read_count = len(order)
        return self._learned_moves


def is_trusted(lesson: LearnedMove, depth: int) -> bool:
    """Return whether a learned move may replace a search to `depth` plies."""
    return depth < lesson.depth + DEPTH_MARGIN
