"""Build trees with search results for drawing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import groupby
from math import isfinite
from operator import itemgetter
from typing import Any, Literal

from agent.game import CHANCE, ChanceGame, NotatedGame
from agent.games.tree import Tree
from agent.io.message import Message
from agent.search.tracing import (
    Counted,
    CutOff,
    Entered,
    Evaluated,
    Event,
    Narrowed,
    PlayedOut,
    Restarted,
    Returned,
    Visited,
)
from agent.search.tree_cursor import Label
from kempelen.lab import language
from kempelen.lab.board_data import board_data
from kempelen.lab.problems import innermost_game

NodeKind = Literal["MAX", "MIN", "OR", "AND", "chance"]

# Maximum number of nodes in a picture, and of leaves before siblings are merged.
MAX_NODES = 600
MAX_WIDTH = 44
# Maximum number of lines of a position in a picture.
MAX_POSITION_LINES = 4


@dataclass
class SearchTreeNode:
    """A tree node with its search results.

    `move` leads to the node. `order` is the number of the first visit, from 1. `value` is text,
    such as "≥5" for a lower bound. `window` and `final_window` are (alpha, beta) on the last entry
    and on exit. `from_table` means that the value came from the transposition table, without a
    visit. `cut` means that a cut-off skipped the node. `merged_count` is the number of siblings
    that the node represents, including itself. `name` is the name in a tree file, and `position` a
    short text of the position. At an AND node (`is_and`), the winner needs all children. `shared`
    is the label of the node that stands for the same position.
    """

    label: Label
    kind: NodeKind
    move: str
    children: list[SearchTreeNode] = field(default_factory=list)
    order: int | None = None
    value: str = ""
    window: tuple[float, float] | None = None
    final_window: tuple[float, float] | None = None
    is_leaf: bool = False
    is_principal: bool = False
    from_table: bool = False
    cut: bool = False
    merged_count: int = 1
    name: str = ""
    position: str = ""
    is_and: bool = False
    shared: Label | None = None

    @property
    def is_reached(self) -> bool:
        """Whether the node was visited or its value came from the transposition table."""
        return self.order is not None or self.from_table

    def iter_nodes(self) -> Iterable[SearchTreeNode]:
        """Yield the node and all its descendants in preorder."""
        yield self
        for child in self.children:
            yield from child.iter_nodes()


def search_tree(
    game: NotatedGame[Any],
    depth: int,
    events: Iterable[Event],
    pv: Iterable[Any] = (),
    translate: language.Translator = str,
    *,
    is_and_or: bool = False,
) -> SearchTreeNode:
    """Build the tree below the game's current position, with the results of a search.

    If `is_and_or` is true, its nodes are OR and AND nodes.

    For Monte Carlo tree search, only the nodes of its own tree are included. A large tree is
    reduced in three stages: first nodes below cut-offs are dropped, then unvisited siblings are
    merged, and then leaves that do not determine their parent's value are merged. Raise ValueError
    if the tree is still too large.
    """
    notes = _NodeRecords(events, translate)
    principal = set(line_labels(game, pv))
    widths = (False, False), (True, False), (True, True)
    for below_cuts in (True, False):
        if notes.is_monte_carlo and below_cuts:
            continue
        root = _build(game, notes, depth, translate, below_cuts=below_cuts, is_and_or=is_and_or)
        if root is None:
            continue
        for unvisited, leaves in widths if not below_cuts else widths[:1]:
            if notes.is_monte_carlo:
                _drop_unvisited(root)
            elif unvisited:
                _merge_siblings(root, lambda node, child: not child.is_reached)
            if leaves:
                _merge_siblings(root, partial(_is_redundant, principal=principal))
            if sum(not node.children for node in root.iter_nodes()) <= MAX_WIDTH or leaves:
                _mark(root, principal)
                return root
    raise ValueError(
        Message(
            "tree: more than {} nodes, too many to draw (use a smaller --depth, a later "
            "position with --moves, or a smaller game with --size)",
            MAX_NODES,
        )
    )


def position_text(game: NotatedGame[Any]) -> str:
    """Return a short text of the position for a picture, or "" if it would be too large."""
    data = board_data(game)
    if data is None:
        return ""
    if data["look"] == "heaps":
        return ", ".join(map(str, data["heaps"]))
    lines = [*map(str, data.get("rows", ()))]
    return "\n".join(lines) if 0 < len(lines) <= MAX_POSITION_LINES else ""


def _node_name(game: Any) -> str:
    """Return the name and the static value of a node in a tree file."""
    game = innermost_game(game)
    if not isinstance(game, Tree):
        return ""
    value = game.note.static_value
    return game.name if value is None else f"{game.name} h={format_short_value(value)}".strip()


def format_short_value(value: float, translate: language.Translator = str) -> str:
    """Format a value with 6 significant digits if it is an integer, otherwise with 3."""
    return language.format_value(
        value, 6 if isfinite(value) and value == int(value) else 3, translate
    )


def line_labels(game: NotatedGame[Any], pv: Iterable[Any]) -> list[Label]:
    """Return the labels of all nodes on a line of play, from the root."""
    labels: list[Label] = [()]
    for move in pv:
        labels.append((*labels[-1], 1 + list(game.moves()).index(move)))
        game.play(move)
    for _ in labels[1:]:
        game.undo()
    return labels


def _mark(root: SearchTreeNode, principal: set[Label]) -> None:
    for node in root.iter_nodes():
        node.is_principal = node.label in principal


def _is_redundant(node: SearchTreeNode, child: SearchTreeNode, principal: set[Label]) -> bool:
    if (
        child.children
        or child.label in principal
        or child.merged_count > 1
        or node.kind == "chance"
    ):
        return False
    values = [sibling.value for sibling in node.children]
    return child.value != node.value.lstrip("≥≤") or values.index(child.value) < (
        node.children.index(child)
    )


def _drop_unvisited(node: SearchTreeNode) -> None:
    node.children = [child for child in node.children if child.is_reached]
    for child in node.children:
        _drop_unvisited(child)


def _merge_siblings(
    node: SearchTreeNode, can_merge: Callable[[SearchTreeNode, SearchTreeNode], bool]
) -> None:
    for child in node.children:
        _merge_siblings(child, can_merge)
    mergeable = [can_merge(node, child) for child in node.children]
    merged: list[SearchTreeNode] = []
    for can_merge_group, group in groupby(
        zip(mergeable, node.children, strict=True), itemgetter(0)
    ):
        siblings = [child for _, child in group]
        if not can_merge_group or len(siblings) == 1:
            merged += siblings
            continue
        count = sum(child.merged_count for child in siblings)
        first = replace(siblings[0], move="", children=[], merged_count=count, value=f"+{count}")
        first = replace(first, window=None, final_window=None, is_leaf=True)
        merged.append(replace(first, name="", position="", shared=None))
    node.children = merged


@dataclass
class _NodeRecord:
    """The results of a search at one node. `is_cut` means that a cut-off skipped moves."""

    order: int | None = None
    value: str = ""
    entered: Entered | None = None
    final_window: tuple[float, float] | None = None
    is_leaf: bool = False
    from_table: bool = False
    is_cut: bool = False


class _NodeRecords:
    """The search results of all nodes. A later event at a node overrides an earlier one."""

    def __init__(self, events: Iterable[Event], translate: language.Translator) -> None:
        self._format = partial(format_short_value, translate=translate)
        self.nodes: defaultdict[Label, _NodeRecord] = defaultdict(_NodeRecord)
        self._visited = 0
        self.is_monte_carlo = False
        for event in events:
            self._add_event(event, self.nodes[event.label])

    def _visit(self, node: _NodeRecord) -> None:
        if node.order is None:
            self._visited += 1
            node.order = self._visited

    def _add_event(self, event: Event, node: _NodeRecord) -> None:
        match event:
            case Restarted():
                self.nodes.clear()
                self._visited = 0
            case PlayedOut():
                if not self.is_monte_carlo:  # its playouts visit nodes below the search tree
                    self.is_monte_carlo = True
                    self.nodes.clear()
                    self._visited = 0
                    self._visit(self.nodes[()])
                self._visit(self.nodes[event.label])
            case Visited() if not self.is_monte_carlo:
                self._visit(node)
            case Entered():
                node.entered, node.final_window = event, event.window
            case Evaluated() if not self.is_monte_carlo:
                node.is_leaf, node.value = True, self._format(event.value)
            case CutOff():
                node.is_cut = True
            case Returned():
                node.from_table |= event.remembered
                if not node.is_leaf:
                    relation, value = "", event.value
                    if node.entered is not None:
                        relation, value = node.entered.meaning(value)
                    node.value = f"{relation}{self._format(value)}"
                self._narrow(self.nodes[event.label[:-1]], event.value)
            case Narrowed() if not node.is_leaf:
                node.value = f"[{self._format(event.lower)}, {self._format(event.upper)}]"
            case Counted():
                node.value = f"{event.mean:+z.2f}\n{event.visits}"

    def _narrow(self, parent: _NodeRecord, value: float | bool) -> None:
        if parent.entered is not None and parent.final_window is not None:
            alpha, beta = parent.final_window
            if parent.entered.maximises:
                parent.final_window = max(alpha, value), beta
            else:
                parent.final_window = alpha, min(beta, value)


def _build(
    game: NotatedGame[Any],
    records: _NodeRecords,
    depth: int,
    translate: language.Translator,
    *,
    below_cuts: bool,
    is_and_or: bool,
) -> SearchTreeNode | None:
    """Build the tree at the game's position, or return None if there are too many nodes."""
    max_player, count = game.turn, 0
    kinds: tuple[NodeKind, NodeKind] = ("OR", "AND") if is_and_or else ("MAX", "MIN")
    searched: dict[Hashable, Label] = {}

    def grow(label: Label, move: str, depth: int) -> SearchTreeNode | None:
        nonlocal count
        count += 1
        if count > MAX_NODES:
            return None
        kind: NodeKind = "chance"
        if game.turn != CHANCE:
            kind = kinds[game.turn != max_player]
        record = records.nodes[label]
        node = SearchTreeNode(
            *(label, kind, move),
            order=record.order,
            value=record.value,
            window=None if record.entered is None else record.entered.window,
            final_window=record.final_window,
            from_table=record.order is None and record.from_table,
            name=_node_name(game),
            position=position_text(game),
            is_and=kind == "AND",
        )
        for key in ((game.key(), depth), game.key()):
            if node.from_table:
                node.shared = node.shared or searched.get(key)
            elif node.order is not None:
                searched.setdefault(key, label)
        node.cut = bool(label) and records.nodes[label[:-1]].is_cut and not node.is_reached
        at_horizon = depth <= 0 and kind != "chance"  # chance events cost no depth
        outcome = game.outcome()
        node.is_leaf = record.is_leaf or at_horizon or outcome is not None
        if node.is_leaf:
            if not node.value and outcome is not None and isinstance(game, Tree):
                node.value = format_short_value(outcome)
            return node
        if node.order is None and not below_cuts:
            return node
        chances = {}
        if isinstance(game, ChanceGame) and kind == "chance":
            chances = dict(game.chance_outcomes())
        for number, child_move in enumerate(list(game.moves()), 1):
            text = ""
            if not isinstance(game, Tree):
                text = language.translate_move(game.text(child_move), translate)
            if child_move in chances:
                chance = Fraction(chances[child_move]).limit_denominator(10_000)
                text = f"{text}\n{chance}".lstrip()
            game.play(child_move)
            child = grow((*label, number), text, depth if kind == "chance" else depth - 1)
            game.undo()
            if child is None:
                return None
            node.children.append(child)
        return node

    return grow((), "", depth)
