"""A game given by its tree: nested lists of leaf values, MAX (player 0) at the root.

It is the game of the textbooks' examples: [[3, 5], [2, 9]] is a root with two MIN nodes.
"""

from collections.abc import Hashable
from random import Random
from typing import TypeAlias

Node: TypeAlias = "float | list[Node]"


class Tree:
    """A node of a game tree and the path to it. Moves are the children's numbers, from 1.

    The players alternate; a leaf's value is player 0's utility.
    """

    def __init__(self, root: Node) -> None:
        self._nodes = [root]
        self._path: list[int] = []

    @property
    def turn(self) -> int:
        """The player to move: 0 is MAX, 1 is MIN."""
        return len(self._path) % 2

    def moves(self) -> range:
        """Return the numbers of the node's children."""
        node = self._nodes[-1]
        return range(1, len(node) + 1) if isinstance(node, list) else range(0)

    def play(self, move: int) -> None:
        """Go down to a child."""
        node = self._nodes[-1]
        assert isinstance(node, list)
        self._nodes.append(node[move - 1])
        self._path.append(move)

    def undo(self) -> None:
        """Go back up to the parent."""
        self._nodes.pop()
        self._path.pop()

    def outcome(self) -> float | None:
        """Return a leaf's value, None inside the tree."""
        node = self._nodes[-1]
        return None if isinstance(node, list) else node

    def key(self) -> Hashable:
        """Return the path from the root."""
        return tuple(self._path)

    def text(self, move: int) -> str:
        """Return a child's number."""
        return str(move)

    def __str__(self) -> str:
        """Return the node's label in Dewey's notation and what is below it."""
        label = ".".join(map(str, self._path)) or "ε"
        return f"{label}: {self._nodes[-1]}"


def evaluate(game: Tree) -> float:
    """Return 0: a tree says nothing of a node but what its leaves are worth."""
    return 0


def random_tree(branching: int, depth: int, random: Random) -> Tree:
    """Return a uniform tree whose leaves hold 0, 1, 2, ... in random order.

    Only the order of independent continuous values matters to a search: distinct integers in
    random order are the same to it.
    """
    if branching < 1 or depth < 0:
        raise ValueError(f"no tree has branching {branching} and depth {depth}")
    level: list[Node] = [float(value) for value in range(branching**depth)]
    random.shuffle(level)
    while len(level) > 1:
        level = [level[start : start + branching] for start in range(0, len(level), branching)]
    root = level[0]
    if branching == 1:
        for _ in range(depth):
            root = [root]
    return Tree(root)
