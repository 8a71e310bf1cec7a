"""Going about in a game's tree, for searches that jump from node to node.

Nodes are named in Dewey's notation: () is the root, (2, 1) the first child of its second child.
"""

from typing import Generic, TypeVar

from agent.game import Game

Move = TypeVar("Move")
Label = tuple[int, ...]


class TreeCursor(Generic[Move]):
    """Takes the game from node to node by their labels."""

    def __init__(self, game: Game[Move]) -> None:
        # The moves of every node that has been expanded.
        self.moves: dict[Label, list[Move]] = {}
        self._game = game
        self._label: Label = ()

    def go_to(self, label: Label) -> None:
        """Go to a node whose ancestors have all been expanded."""
        shared = 0
        for here, there in zip(self._label, label, strict=False):
            if here != there:
                break
            shared += 1
        for _ in self._label[shared:]:
            self._game.undo()
        for ply in range(shared, len(label)):
            self._game.play(self.moves[label[:ply]][label[ply] - 1])
        self._label = label
