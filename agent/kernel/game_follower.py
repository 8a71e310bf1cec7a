from collections.abc import Iterable
from copy import deepcopy
from typing import Any, Generic, TypeVar

from agent.game import Game

Move = TypeVar("Move")


class GameReplayer(Generic[Move]):
    """A copy of the root game, which replays moves to follow the positions of a compiled search."""

    def __init__(self, root: Game[Move]) -> None:
        self._game: Any = deepcopy(root)
        self._line: list[Move] = []

    def at(self, line: Iterable[Move]) -> Any:
        """Return the game after the moves in `line` from the root. Callers must not change it."""
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
