"""A game defined by its tree: nested lists of leaf values, with MAX (player 0) at the root.

For example, [[3, 5], [2, 9]] is a root with two MIN nodes. A node may have a name, a static value
for searches that end above the leaves and, for B*, bounds on its value. A chance node has the
probabilities of its children.
"""

import re
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite
from os import PathLike
from typing import Any, TypeAlias

from agent.game import CHANCE
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
    """The name of a node, and what is known about it.

    The bounds and the static value are from the point of view of MAX. `chances` contains the
    probabilities of the children of a chance node.
    """

    name: str = ""
    bounds: tuple[float, float] = (-inf, inf)
    static_value: float | None = None
    chances: tuple[float, ...] = ()


NO_ANNOTATION = NodeAnnotation()
KEYS = ("name", "bounds", "value", "children", "chances")
# The word for chances that are all equal.
EQUAL_CHANCES = "equal"
# Maximum number of YAML values per node: the node, its name, value, lists, bounds, and its chance.
YAML_VALUES_PER_NODE = 10
# Size limits of a file, to bound memory use and recursion.
MAX_NODES, MAX_LEVELS = 1_000_000, 100
FRACTION = re.compile("[0-9]{1,9}/[1-9][0-9]{0,8}")
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
    def note(self) -> NodeAnnotation:
        """The annotation of the current node."""
        return self._notes.get(tuple(self._path), NO_ANNOTATION)

    @property
    def mover(self) -> int:
        """The player to move, or at a chance node the player who moves after the event."""
        return len(self._path) % 2

    @property
    def turn(self) -> int:
        """The player to move: 0 is MAX, 1 is MIN."""
        return self.mover

    @property
    def name(self) -> str:
        """The name of the node, or "" if it has none."""
        return self.note.name

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
        lower, upper = self.note.bounds
        return (-upper, -lower) if self.mover else (lower, upper)

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
        """Return the largest absolute value of any node."""
        return max(map(abs, self._values()))

    def height(self) -> int:
        """Return the number of levels below the node."""
        height, level = 0, [self._nodes[-1]]
        while level := [child for node in level if isinstance(node, list) for child in node]:
            height += 1
        return height

    @property
    def integer_values(self) -> bool:
        """Whether the values of all nodes are integers."""
        if self._integer_values is None:
            self._integer_values = all(isinstance(value, int) for value in self._values())
        return self._integer_values

    def text(self, move: int) -> str:
        """Return the index of a child, counted from 1."""
        return str(move)

    def __str__(self) -> str:
        """Return the node's Dewey label and subtree, such as "2.1: [3, 5]". The root is "ε"."""
        label = ".".join(map(str, self._path)) or "ε"
        return f"{label}: {self._nodes[-1]}"

    def _values(self) -> Iterator[float]:
        yield from _leaves(self.root)
        for note in self._notes.values():
            if note.static_value is not None:
                yield note.static_value


class ChanceTree(Tree):
    """A tree with chance nodes, whose children are random events. The players alternate."""

    def __init__(
        self, root: Node = EXAMPLE, notes: Mapping[tuple[int, ...], NodeAnnotation] | None = None
    ) -> None:
        super().__init__(root, notes)
        self._movers = [0]

    @property
    def mover(self) -> int:
        """The player to move, or at a chance node the player who moves after the event."""
        return self._movers[-1]

    @property
    def turn(self) -> int:
        """The player to move, or CHANCE."""
        return CHANCE if self.note.chances else self.mover

    def chance_outcomes(self) -> Iterator[tuple[int, float]]:
        """Return the children of a chance node with their probabilities."""
        return iter(enumerate(self.note.chances, 1))

    def play(self, move: int) -> None:
        """Go to a child. After a chance node, its mover moves."""
        mover = self.mover if self.turn == CHANCE else 1 - self.mover
        super().play(move)
        self._movers.append(mover)

    def undo(self) -> None:
        """Go to the parent."""
        super().undo()
        self._movers.pop()

    @property
    def integer_values(self) -> bool:
        """False: the value of a chance node is a mean."""
        return False


def _leaves(node: Node) -> Iterator[float]:
    if not isinstance(node, list):
        yield node
        return
    for child in node:
        yield from _leaves(child)


def evaluate(game: Tree) -> float:
    """Return the static value of an inner node for the player to move, 0 if it has none."""
    value = game.note.static_value or 0
    return -value if game.mover else value


def read_tree(path: str | PathLike[str]) -> Tree:
    """Read a tree from a YAML file with nested lists of leaf values.

    A node may also be a mapping: {name: N16, bounds: [3, 8], children: [...]}. A leaf has `value`
    instead of `children`. If a node has both, `value` is its static value. A chance node has
    `chances`, such as [1/2, 0.25, 0.25] or `equal`. Raise ValueError, with the names of the file
    and the node, if the file is invalid.
    """
    try:
        root = safe_yaml.read(path)
    except OSError as error:
        raise ValueError(Message("{}: could not read the file: {}", path, error)) from None
    except safe_yaml.YamlError as error:
        raise _yaml_error(str(path), error) from error
    return _tree(root, str(path), MAX_NODES, MAX_LEVELS)


def is_inline_tree(text: str) -> bool:
    """Return whether the argument of an option is a tree in YAML, and not the name of a file."""
    return text.lstrip().startswith(("[", "{"))


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


def _tree(root: Any, source_name: str, max_nodes: int, levels: int) -> Tree:
    notes: dict[tuple[int, ...], NodeAnnotation] = {}
    try:
        _check_size(root, max_nodes, levels)
        nodes = _parse_node(root, (), notes)
        kind = ChanceTree if any(note.chances for note in notes.values()) else Tree
        return kind(nodes, notes)
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
        if "children" not in node and "value" not in node:
            raise ValueError(Message("{}: expected children or a value", label))
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
        _check_value(value, label)
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
    static_value = node.get("value") if "children" in node else None
    if static_value is not None:
        if not _is_number(static_value) or not isfinite(static_value):
            raise ValueError(
                Message("{}: the value of a node with children must be a finite number", label)
            )
        _check_value(static_value, label)
    chances = _parse_chances(node, label) if "chances" in node else ()
    return NodeAnnotation(str(node.get("name", "")), (lower, upper), static_value, chances)


def _parse_chances(node: dict[Any, Any], label: str) -> tuple[float, ...]:
    children, chances = node.get("children"), node["chances"]
    if not isinstance(children, list) or not children:
        raise ValueError(Message("{}: chances without children", label))
    if chances == EQUAL_CHANCES:
        return (1 / len(children),) * len(children)
    if not isinstance(chances, list):
        raise ValueError(
            Message("{}: chances must be a list, such as [1/2, 1/2], or {}", label, EQUAL_CHANCES)
        )
    if len(chances) != len(children):
        raise ValueError(
            Message("{}: {} chances for {} children", label, len(chances), len(children))
        )
    fractions = [_parse_chance(each, label) for each in chances]
    if sum(fractions) != 1:
        raise ValueError(
            Message("{}: chances must add up to 1 (got {})", label, float(sum(fractions)))
        )
    return tuple(map(float, fractions))


def _parse_chance(chance: Any, label: str) -> Fraction:
    text = str(chance)
    if (_is_number(chance) and isfinite(chance) and chance > 0) or FRACTION.fullmatch(text):
        fraction = Fraction(text)  # from text, because 0.1 is not an exact float
        if 0 < fraction <= 1:
            return fraction
    raise ValueError(
        Message(
            "{}: invalid chance {!r} (expected a number from 0 to 1, such as 1/6)", label, chance
        )
    )


def _check_value(value: float, label: str) -> None:
    if abs(value) > MAX_VALUE and abs(value) != inf:
        raise ValueError(Message("{}: value is too large (at most {})", label, MAX_VALUE))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


GAME = Tree
