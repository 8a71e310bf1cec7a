"""A game given by its tree: nested lists of leaf values, MAX (player 0) at the root.

It is the game of the textbooks' examples: [[3, 5], [2, 9]] is a root with two MIN nodes. Nodes may
have names, and bounds of their values, as B* uses them.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from os import PathLike
from typing import Any, TypeAlias

from agent.io import safe_yaml

Node: TypeAlias = "float | list[Node]"

# On this tree alpha-beta evaluates every leaf, SSS* half of them. What 'Tema 2: Búsqueda en
# juegos' tells of its example is kept; the leaves it does not tell are ours.
EXAMPLE: Node = [
    [[[5, 6], [7, 8]], [[1, 2], [3, 4]]],
    [[[13, 14], [15, 16]], [[9, 10], [11, 12]]],
]


@dataclass(frozen=True)
class NodeAnnotation:
    """What is said of a node beside its children: its name, and bounds of its value for MAX."""

    name: str = ""
    bounds: tuple[float, float] = (-inf, inf)


NO_ANNOTATION = NodeAnnotation()
KEYS = ("name", "bounds", "value", "children")
# A node with all keys, its bounds in a list, and its list of children.
YAML_VALUES_PER_NODE = 7
# Of a file: what memory holds, and what recursions reach.
MAX_NODES, MAX_LEVELS = 1_000_000, 100
# Up to here whole numbers are told apart as fractions, too.
MAX_VALUE = 2**53


class Tree:
    """A node of a game tree and the path to it. Moves are the children's numbers, from 1.

    The players alternate; a leaf's value is player 0's utility. notes: of nodes, by their paths.
    """

    def __init__(
        self, root: Node = EXAMPLE, notes: Mapping[tuple[int, ...], NodeAnnotation] | None = None
    ) -> None:
        self._nodes = [root]
        self._notes = notes or {}
        self._path: list[int] = []
        self._integer_values: bool | None = None

    @property
    def root(self) -> Node:
        """The whole tree."""
        return self._nodes[0]

    @property
    def notes(self) -> Mapping[tuple[int, ...], NodeAnnotation]:
        """What is said of nodes, by their paths."""
        return self._notes

    @property
    def turn(self) -> int:
        """The player to move: 0 is MAX, 1 is MIN."""
        return len(self._path) % 2

    @property
    def name(self) -> str:
        """The node's name, empty if it has none."""
        return self._notes.get(tuple(self._path), NO_ANNOTATION).name

    def bounds(self) -> tuple[float, float]:
        """Return the bounds of the node's value for its mover; infinite ones if none are noted."""
        lower, upper = self._notes.get(tuple(self._path), NO_ANNOTATION).bounds
        return (-upper, -lower) if self.turn else (lower, upper)

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

    def max_utility(self) -> float:
        """Return the greatest utility, of either sign, in the whole tree."""
        return max(map(abs, _leaves(self.root)))

    @property
    def integer_values(self) -> bool:
        """Whether all leaves hold whole numbers."""
        if self._integer_values is None:
            self._integer_values = all(isinstance(leaf, int) for leaf in _leaves(self.root))
        return self._integer_values

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

    Instead of a list or value a node may be {name: N16, bounds: [3, 8], children: [...]}, or with
    a value in place of children. Raises ValueError, naming the file and the place, if it holds
    anything else.
    """
    try:
        root = safe_yaml.read(path)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except safe_yaml.YamlError as error:
        raise ValueError(f"{path} is not YAML: {error}") from error
    return _tree(root, str(path), MAX_NODES, MAX_LEVELS)


def parse_tree(text: str, nodes: int, levels: int) -> Tree:
    """Return the tree that a text says, as `read_tree` does, of so many nodes and levels at most.

    Raises ValueError, naming the place, if it is anything else.
    """
    try:
        root = safe_yaml.load(text, max_values=YAML_VALUES_PER_NODE * nodes)
    except safe_yaml.YamlError as error:
        raise ValueError(f"the tree is not YAML: {error}") from None
    return _tree(root, "the tree", nodes, levels)


def _tree(root: Any, source_name: str, nodes: int, levels: int) -> Tree:
    notes: dict[tuple[int, ...], NodeAnnotation] = {}
    try:
        _check_size(root, nodes, levels)
        return Tree(_parse_node(root, (), notes), notes)
    except ValueError as error:
        raise ValueError(f"{source_name}: {error}") from None


def _check_size(root: Any, nodes: int, levels: int) -> None:
    """Raise ValueError for more nodes or levels below the root."""
    waiting, count = [(root, 0)], 0
    while waiting:
        node, level = waiting.pop()
        count += 1
        if count > nodes:
            raise ValueError(f"it has more than {nodes} nodes")
        if level > levels:
            raise ValueError(f"it has more than {levels} levels below the root")
        below = node.get("children") if isinstance(node, dict) else node
        if isinstance(below, list):
            waiting.extend((child, level + 1) for child in below)


def _parse_node(
    node: Any, path: tuple[int, ...], notes: dict[tuple[int, ...], NodeAnnotation]
) -> Node:
    """Return the node if it is a tree, and note what is said of it; else say where it is not."""
    label = ".".join(map(str, path)) or "the root"
    if isinstance(node, dict):
        notes[path] = _parse_annotation(node, label)
        if ("children" in node) == ("value" in node):
            raise ValueError(f"{label} needs either children or a value")
        below = node.get("children", node.get("value"))
        if isinstance(below, list) != ("children" in node):
            raise ValueError(f"{label}: children are a list, a value is a number")
        return _parse_node(below, path, notes)
    if isinstance(node, list):
        if not node:
            raise ValueError(f"{label} is an empty list; write a leaf as a number")
        return [_parse_node(child, (*path, number), notes) for number, child in enumerate(node, 1)]
    if _is_number(node):
        found: float = node
        if abs(found) > MAX_VALUE and abs(found) != inf:
            raise ValueError(f"{label} is too large; a value is at most {MAX_VALUE}")
        return found
    raise ValueError(f"{label} is {node!r}, neither a number nor a list")


def _parse_annotation(node: dict[Any, Any], label: str) -> NodeAnnotation:
    """Return what is said of a node in its own words."""
    for key in node:
        if key not in KEYS:
            raise ValueError(f"{label} has {key!r}; a node has {', '.join(KEYS)}")
    bounds = node.get("bounds", [-inf, inf])
    if not (isinstance(bounds, list) and len(bounds) == 2 and all(map(_is_number, bounds))):
        raise ValueError(f"{label}: bounds are two numbers, such as [3, 8]")
    lower, upper = bounds
    if any(abs(each) > MAX_VALUE and abs(each) != inf for each in bounds):
        raise ValueError(f"{label}: a bound is too large; it is at most {MAX_VALUE}")
    if lower > upper:
        raise ValueError(f"{label}: the lower bound {lower} is above the upper bound {upper}")
    return NodeAnnotation(str(node.get("name", "")), (lower, upper))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


GAME = Tree
