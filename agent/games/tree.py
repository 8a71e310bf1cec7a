"""A game given by its tree: nested lists of leaf values, MAX (player 0) at the root.

It is the game of the textbooks' examples: [[3, 5], [2, 9]] is a root with two MIN nodes.
"""

from collections.abc import Hashable, Iterator
from os import PathLike
from typing import Any, TypeAlias

from agent.border import yaml_text

Node: TypeAlias = "float | list[Node]"

# On this tree alpha-beta evaluates every leaf, SSS* half of them. What 'Tema 2: Búsqueda en
# juegos' tells of its example is kept; the leaves it does not tell are ours.
EXAMPLE: Node = [
    [[[5, 6], [7, 8]], [[1, 2], [3, 4]]],
    [[[13, 14], [15, 16]], [[9, 10], [11, 12]]],
]


class Tree:
    """A node of a game tree and the path to it. Moves are the children's numbers, from 1.

    The players alternate; a leaf's value is player 0's utility.
    """

    def __init__(self, root: Node = EXAMPLE) -> None:
        self._nodes = [root]
        self._path: list[int] = []
        self._whole: bool | None = None

    @property
    def root(self) -> Node:
        """The whole tree."""
        return self._nodes[0]

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

    def greatest(self) -> float:
        """Return the greatest utility, of either sign, in the whole tree."""
        return max(map(abs, _leaves(self.root)))

    @property
    def whole_values(self) -> bool:
        """Whether all leaves hold whole numbers."""
        if self._whole is None:
            self._whole = all(isinstance(leaf, int) for leaf in _leaves(self.root))
        return self._whole

    def text(self, move: int) -> str:
        """Return a child's number."""
        return str(move)

    def __str__(self) -> str:
        """Return the node's label in Dewey's notation and what is below it."""
        label = ".".join(map(str, self._path)) or "ε"
        return f"{label}: {self._nodes[-1]}"


def _leaves(node: Node) -> Iterator[float]:
    """Generate the values of the leaves."""
    if not isinstance(node, list):
        yield node
        return
    for child in node:
        yield from _leaves(child)


def evaluate(game: Tree) -> float:
    """Return 0: a tree says nothing of a node but what its leaves are worth."""
    return 0


def read_tree(path: str | PathLike[str]) -> Tree:
    """Read a tree from a YAML file that holds nested lists of leaf values.

    Raises ValueError, naming the file and the place, if it holds anything else.
    """
    try:
        root = yaml_text.read(path)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except yaml_text.YamlError as error:
        raise ValueError(f"{path} is not YAML: {error}") from error
    try:
        return Tree(_checked(root, ()))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _checked(node: Any, path: tuple[int, ...]) -> Node:
    """Return the node if it is a tree, else say where it is not."""
    label = ".".join(map(str, path)) or "the root"
    if isinstance(node, list):
        if not node:
            raise ValueError(f"{label} is an empty list; write a leaf as a number")
        return [_checked(child, (*path, number)) for number, child in enumerate(node, 1)]
    if isinstance(node, (int, float)) and not isinstance(node, bool) and node == node:
        return node
    raise ValueError(f"{label} is {node!r}, neither a number nor a list")


GAME = Tree
