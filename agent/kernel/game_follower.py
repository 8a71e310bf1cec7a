"""A Python game object that follows the positions of a compiled search."""

from collections.abc import Iterable
from copy import deepcopy
from typing import Any, Generic, TypeVar

from agent.game import Game

Move = TypeVar("Move")


class GameReplayer(Generic[Move]):
    """A copy of the root game that is moved to the position of the current search node.

    When the node changes, only the moves that differ from the previous line are undone and
    replayed.
    """

    def __init__(self, root: Game[Move]) -> None:
        self._game: Any = deepcopy(root)
        self._line: list[Move] = []

    def at(self, line: Iterable[Move]) -> Any:
        """Return the game after playing the moves in `line` from the root.

        The caller must not change the returned game.
        """
        moves = list(line)
        common = 0
        for move, played in zip(moves, self._line, strict=False):
            if move != played:
                break
            common += 1
        for _ in self._line[common:]:
            self._game.undo()
        for move in moves[common:]:
            self._game.play(move)
        self._line = moves
        return self._game
