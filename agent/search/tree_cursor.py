"""Navigation in a game tree, for searches that jump between nodes.

Nodes have labels in Dewey notation: (2, 1) is the first child of the root's second child.
"""

from typing import Any, Generic, TypeVar

from agent.game import Game

Move = TypeVar("Move")
Label = tuple[int, ...]


class TreeCursor(Generic[Move]):
    """A cursor that moves a game to any node of its tree, given the label of the node."""

    def __init__(self, game: Game[Move]) -> None:
        # Moves at nodes where their order is not that of `game.moves()`.
        self.moves: dict[Label, list[Move]] = {}
        self._game: Any = game
        self._label: Label = ()

    def go_to(self, label: Label) -> None:
        """Move the game to a node. The number 0 stands for a null move."""
        shared = 0
        for current, target in zip(self._label, label, strict=False):
            if current != target:
                break
            shared += 1
        for _ in self._label[shared:]:
            self._game.undo()
        for ply in range(shared, len(label)):
            if label[ply]:
                moves = self.moves.get(label[:ply]) or list(self._game.moves())
                self._game.play(moves[label[ply] - 1])
            else:
                self._game.play_null_move()
        self._label = label
