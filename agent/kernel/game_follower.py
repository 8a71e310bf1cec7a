"""A plain game that follows a compiled search, for evaluations in plain Python."""

from collections.abc import Iterable
from copy import deepcopy
from typing import Any, Generic, TypeVar

from agent.game import Game

Move = TypeVar("Move")


class GameFollower(Generic[Move]):
    """A copy of the game at the root, on which the line to a node is played.

    From one node to the next only where the lines part is taken back.
    """

    def __init__(self, root: Game[Move]) -> None:
        self._game: Any = deepcopy(root)
        self._line: list[Move] = []

    def at(self, line: Iterable[Move]) -> Any:
        """Return the game after a line of moves from the root; it must be left as it is."""
        wanted = list(line)
        shared = 0
        for move, made in zip(wanted, self._line, strict=False):
            if move != made:
                break
            shared += 1
        for _ in self._line[shared:]:
            self._game.undo()
        for move in wanted[shared:]:
            self._game.play(move)
        self._line = wanted
        return self._game
