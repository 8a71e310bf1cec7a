"""A game defined by its tree: nested lists of leaf values, with MAX (player 0) at the root.

For example, [[3, 5], [2, 9]] is a root with two MIN nodes. A node may have a name and, for B*,
bounds on its value.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from os import PathLike
from typing import Any, TypeAlias

from agent.io import safe_yaml
from agent.io.message import Message

Node: TypeAlias = "float | list[Node]"

# On this tree alpha-beta evaluates every leaf, and SSS* only half of the leaves. The tree completes
# the example of the lecture notes 'Tema 2: Búsqueda en juegos', which leaves some leaf values open.
EXAMPLE: Node = [
    [[[5, 6], [7, 8]], [[1, 2], [3, 4]]],
    [[[13, 14], [15, 16]], [[9, 10], [11, 12]]],
]


@dataclass(frozen=True)
class NodeAnnotation:
    """The name of a node, and the bounds on its value from the point of view of MAX."""

    name: str = ""
    bounds: tuple[float, float] = (-inf, inf)


NO_ANNOTATION = NodeAnnotation()
KEYS = ("name", "bounds", "value", "children")
# Number of YAML values in a node that has all keys: the keys, the bounds and the list of children.
YAML_VALUES_PER_NODE = 7
# Size limits of a file, to bound memory use and recursion.
MAX_NODES, MAX_LEVELS = 1_000_000, 100
# Limit below which floats represent all integers exactly.
MAX_VALUE = 2**53


class Tree:
    """A node in a game tree. A move is the index of a child, counted from 1.

    The players alternate. The value of a leaf is the utility for player 0. `notes` contains the
    annotations of nodes by path from the root.
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
        """The root of the tree."""
        return self._nodes[0]

    @property
    def notes(self) -> Mapping[tuple[int, ...], NodeAnnotation]:
        """The annotations of nodes by path from the root."""
        return self._notes

    @property
    def turn(self) -> int:
        """The player to move: 0 is MAX, 1 is MIN."""
        return len(self._path) % 2

    @property
    def name(self) -> str:
        """The name of the node, or "" if it has none."""
        return self._notes.get(tuple(self._path), NO_ANNOTATION).name

    def names(self) -> dict[tuple[int, ...], str]:
        """Return the names of nodes, by path from the current node."""
        start = len(self._path)
        return {
            path[start:]: note.name
            for path, note in self._notes.items()
            if note.name and list(path[:start]) == self._path
        }

    def bounds(self) -> tuple[float, float]:
        """Return the bounds on the node's value for the player to move, infinite by default."""
        lower, upper = self._notes.get(tuple(self._path), NO_ANNOTATION).bounds
        return (-upper, -lower) if self.turn else (lower, upper)

    def moves(self) -> range:
        """Return the indices of the children, counted from 1."""
        node = self._nodes[-1]
        return range(1, len(node) + 1) if isinstance(node, list) else range(0)

    def play(self, move: int) -> None:
        """Go to a child."""
        node = self._nodes[-1]
        assert isinstance(node, list)
        self._nodes.append(node[move - 1])
        self._path.append(move)

    def undo(self) -> None:
        """Go to the parent."""
        self._nodes.pop()
        self._path.pop()

    def outcome(self) -> float | None:
        """Return the value of a leaf, or None for an inner node."""
        node = self._nodes[-1]
        return None if isinstance(node, list) else node

    def key(self) -> Hashable:
        """Return the path from the root."""
        return tuple(self._path)

    def max_utility(self) -> float:
        """Return the largest absolute value of any leaf."""
        return max(map(abs, _leaves(self.root)))

    def height(self) -> int:
        """Return the number of levels below the node."""
        height, level = 0, [self._nodes[-1]]
        while level := [child for node in level if isinstance(node, list) for child in node]:
            height += 1
        return height

    @property
    def integer_values(self) -> bool:
        """Whether all leaf values are integers."""
        if self._integer_values is None:
            self._integer_values = all(isinstance(leaf, int) for leaf in _leaves(self.root))
        return self._integer_values

    def text(self, move: int) -> str:
        """Return the index of a child, counted from 1."""
        return str(move)

    def __str__(self) -> str:
        """Return the node's Dewey label and subtree, such as "2.1: [3, 5]". The root is "ε"."""
        label = ".".join(map(str, self._path)) or "ε"
        return f"{label}: {self._nodes[-1]}"


def _leaves(node: Node) -> Iterator[float]:
    if not isinstance(node, list):
        yield node
        return
    for child in node:
        yield from _leaves(child)


def evaluate(game: Tree) -> float:
    """Return 0, because an inner node has no value of its own."""
    return 0


def read_tree(path: str | PathLike[str]) -> Tree:
    """Read a tree from a YAML file with nested lists of leaf values.

    A node may also be a mapping: {name: N16, bounds: [3, 8], children: [...]}. A leaf has `value`
    instead of `children`. Raise ValueError, with the names of the file and the node, if the
    file is invalid.
    """
    try:
        root = safe_yaml.read(path)
    except OSError as error:
        raise ValueError(Message("{}: could not read the file: {}", path, error)) from None
    except safe_yaml.YamlError as error:
        raise _yaml_error(str(path), error) from error
    return _tree(root, str(path), MAX_NODES, MAX_LEVELS)


def parse_tree(text: str, nodes: int, levels: int) -> Tree:
    """Parse a YAML text in the format of `read_tree`.

    `nodes` is the maximum number of nodes, and `levels` the maximum number of levels below the
    root. Raise ValueError, with the name of the node, if the text is invalid.
    """
    try:
        root = safe_yaml.load(text, max_values=YAML_VALUES_PER_NODE * nodes)
    except safe_yaml.YamlError as error:
        raise _yaml_error(Message("tree"), error) from None
    return _tree(root, Message("tree"), nodes, levels)


def _yaml_error(source_name: str, error: safe_yaml.YamlError) -> ValueError:
    reason = Message(str(error))
    if not reason.arguments:
        return ValueError(Message("{}: invalid YAML: {}", source_name, reason))
    return ValueError(
        Message("{}: invalid YAML: {} (line {}, column {})", source_name, *reason.arguments)
    )


def _tree(root: Any, source_name: str, nodes: int, levels: int) -> Tree:
    notes: dict[tuple[int, ...], NodeAnnotation] = {}
    try:
        _check_size(root, nodes, levels)
        return Tree(_parse_node(root, (), notes), notes)
    except ValueError as error:
        raise ValueError(Message("{}: {}", source_name, error)) from None


def _check_size(root: Any, nodes: int, levels: int) -> None:
    waiting, count = [(root, 0)], 0
    while waiting:
        node, level = waiting.pop()
        count += 1
        if count > nodes:
            raise ValueError(Message("too many nodes (at most {})", nodes))
        if level > levels:
            raise ValueError(Message("too many levels below the root (at most {})", levels))
        below = node.get("children") if isinstance(node, dict) else node
        if isinstance(below, list):
            waiting.extend((child, level + 1) for child in below)


def _parse_node(
    node: Any, path: tuple[int, ...], notes: dict[tuple[int, ...], NodeAnnotation]
) -> Node:
    label = ".".join(map(str, path)) or Message("root")
    if isinstance(node, dict):
        notes[path] = _parse_annotation(node, label)
        if ("children" in node) == ("value" in node):
            raise ValueError(Message("{}: expected either children or a value", label))
        below = node.get("children", node.get("value"))
        if isinstance(below, list) != ("children" in node):
            raise ValueError(Message("{}: children must be a list, and value a number", label))
        return _parse_node(below, path, notes)
    if isinstance(node, list):
        if not node:
            raise ValueError(Message("{}: empty list (expected a number for a leaf)", label))
        return [_parse_node(child, (*path, index), notes) for index, child in enumerate(node, 1)]
    if _is_number(node):
        value: float = node
        if abs(value) > MAX_VALUE and abs(value) != inf:
            raise ValueError(Message("{}: value is too large (at most {})", label, MAX_VALUE))
        return value
    raise ValueError(Message("{}: invalid node {!r} (expected a number or a list)", label, node))


def _parse_annotation(node: dict[Any, Any], label: str) -> NodeAnnotation:
    for key in node:
        if key not in KEYS:
            raise ValueError(
                Message("{}: unknown key {!r} (expected one of: {})", label, key, ", ".join(KEYS))
            )
    bounds = node.get("bounds", [-inf, inf])
    if not (isinstance(bounds, list) and len(bounds) == 2 and all(map(_is_number, bounds))):
        raise ValueError(Message("{}: bounds must be two numbers, such as [3, 8]", label))
    lower, upper = bounds
    if any(abs(bound) > MAX_VALUE and abs(bound) != inf for bound in bounds):
        raise ValueError(Message("{}: bound is too large (at most {})", label, MAX_VALUE))
    if lower > upper:
        raise ValueError(
            Message("{}: lower bound {} is above the upper bound {}", label, lower, upper)
        )
    return NodeAnnotation(str(node.get("name", "")), (lower, upper))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


GAME = Tree
