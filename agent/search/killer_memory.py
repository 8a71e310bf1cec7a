"""The permanent killer memory: moves whose outcome was a surprise, known again in the tree.

Source: 'Fundamentos de IA 10: Estrategia de juego': what harms more than was foreseen is stored
with its state, and when the state comes again, even in the tree, the move is pruned at once: it is
worth what playing on has shown.
"""

from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from os import PathLike
from typing import Any, Generic, TypeVar

from agent.experience.game_notation import SURPRISE, GameNotation, read_key
from agent.experience.lesson import Lesson
from agent.experience.memory import Experience
from agent.experience.searcher import MARGIN
from agent.game import Game
from agent.player import PlayerError

Move = TypeVar("Move")


class KillerMemory(Generic[Move]):
    """What experience knows, by the keys of the positions that its moves lead to.

    One of a game may be used by any number of searches.
    """

    def __init__(self, experience: Experience[Game[Move], Move]) -> None:
        self.experience = experience
        self._taken = 0
        self._lessons: dict[Hashable, Lesson] = {}

    @classmethod
    def kept_in(
        cls,
        path: str | PathLike[str],
        game: Game[Any],
        surprise: float = SURPRISE,
        report: Callable[[str], None] = lambda message: None,
    ) -> "KillerMemory[Any]":
        """Return the memory of a game that a file keeps, or will keep.

        report: told of surprises. Raises ValueError, naming the file, if it is something else, or
        the game cannot be kept.
        """
        experience = Experience[Game[Any], Any](GameNotation(game, surprise), report)
        try:
            experience.use(str(path))
        except PlayerError as error:
            raise ValueError(str(error)) from None
        return cls(experience)

    def lessons(self) -> Mapping[Hashable, Lesson]:
        """Return the lessons as they are now."""
        order, lessons = self.experience.order, self.experience.by_position_after
        for text in order[self._taken :]:
            with suppress(KeyError, RecursionError, TypeError, ValueError):  # no key of ours
                self._lessons[read_key(text)] = lessons[text]
        self._taken = len(order)
        return self._lessons


def trusted(lesson: Lesson, depth: int) -> bool:
    """Tell whether a lesson is to be believed where a search would look so deep from its end."""
    return depth < lesson.depth + MARGIN
