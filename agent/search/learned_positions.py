"""The permanent killer memory: moves whose outcome was a surprise, known again in the tree.

Source: 'Fundamentos de IA 10: Estrategia de juego': what harms more than was foreseen is stored
with its state, and when the state comes again, even in the tree, the move is pruned at once: it is
worth what playing on has shown.
"""

from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from os import PathLike
from typing import Any, Generic, TypeVar

from agent.agent import AgentError
from agent.game import Game
from agent.learning.game_learning_adapter import SURPRISE_THRESHOLD, GameLearningAdapter, parse_key
from agent.learning.learned_move import LearnedMove
from agent.learning.position_learner import PositionLearner
from agent.learning.position_learning_searcher import DEPTH_MARGIN

Move = TypeVar("Move")


class LearnedPositions(Generic[Move]):
    """What experience knows, by the keys of the positions that its moves lead to.

    One of a game may be used by any number of searches.
    """

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
        """Return the memory of a game that a file keeps, or will keep.

        report: told of surprises. Raises ValueError, naming the file, if it is something else, or
        the game cannot be kept.
        """
        experience = PositionLearner[Game[Any], Any](GameLearningAdapter(game, surprise), report)
        try:
            experience.open_file(str(path))
        except AgentError as error:
            raise ValueError(str(error)) from None
        return cls(experience)

    def lessons(self) -> Mapping[Hashable, LearnedMove]:
        """Return the lessons as they are now."""
        order, lessons = self.experience.resulting_positions, self.experience.by_resulting_position
        for text in order[self._read_count :]:
            with suppress(KeyError, RecursionError, TypeError, ValueError):  # no key of ours
                self._learned_moves[parse_key(text)] = lessons[text]
        self._read_count = len(order)
        return self._learned_moves


def is_trusted(lesson: LearnedMove, depth: int) -> bool:
    """Tell whether a lesson is to be believed where a search would look so deep from its end."""
    return depth < lesson.depth + DEPTH_MARGIN
