"""Build trees with search results for drawing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import groupby
from math import isfinite
from operator import itemgetter
from typing import Any, Literal

from agent.game import CHANCE, ChanceGame, NotatedGame
from agent.games.tree import Tree
from agent.search.tracing import (
    BegunAnew,
    Counted,
    CutOff,
    Entered,
    Evaluated,
    Event,
    Narrowed,
    PlayedOut,
    Returned,
    Visited,
)
from agent.search.tree_cursor import Label
from kempelen.lab import language

NodeKind = Literal["MAX", "MIN", "chance"]

# Maximum number of nodes in a picture, and of leaves before siblings are merged.
MAX_NODES = 600
MAX_WIDTH = 44


@dataclass
class SearchTreeNode:
    """A tree node with its search results.

    `move` leads to the node. `order` is the number of the first visit, from 1. `value` is text,
    such as "≥5" for a lower bound. `window` and `final_window` are (alpha, beta) on the last entry
    and on exit. `from_table` means that the value came from the transposition table, without a
    visit. `cut` means that a cut-off skipped the node. `merged_count` is the number of siblings
    that the node represents, including itself.
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
) -> SearchTreeNode:
    """Build the tree below the game's current position, with the results of a search.

    For Monte Carlo tree search, only the nodes of its own tree are included. A large tree is
    reduced in three stages: nodes below cut-offs are dropped, unvisited siblings are merged, and
    then leaves that do not determine their parent's value. Raise ValueError if the tree is still
    too large.
    """
    notes = _NodeRecords(events, translate)
    principal = set(line_labels(game, pv))
    widths = (False, False), (True, False), (True, True)
    for below_cuts in (True, False):
        if notes.is_monte_carlo and below_cuts:
            continue
        root = _Builder(game, notes, below_cuts, translate).node((), "", depth)
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
        f"tree: more than {MAX_NODES} nodes, too many to draw (use a smaller --depth, a later "
        "position with --moves, or a smaller game with --size)"
    )


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
        merged.append(replace(first, window=None, final_window=None, is_leaf=True))
    node.children = merged


class _NodeRecords:
    """The results of a search by node. A later event for a node overrides an earlier one."""

    def __init__(self, events: Iterable[Event], translate: language.Translator) -> None:
        self._translate = translate
        self.order: dict[Label, int] = {}
        self.value: dict[Label, str] = {}
        self.window: dict[Label, tuple[float, float]] = {}
        self.final_window: dict[Label, tuple[float, float]] = {}
        self.leaves: set[Label] = set()
        self.from_table: set[Label] = set()
        self.cuts: set[Label] = set()
        self._entered: dict[Label, Entered] = {}
        self.is_monte_carlo = False
        for event in events:
            self._add_event(event)

    def _add_event(self, event: Event) -> None:
        label = event.label
        match event:
            case BegunAnew():
                for records in (
                    self.order,
                    self.value,
                    self.window,
                    self.final_window,
                    self._entered,
                ):
                    records.clear()
                self.leaves.clear()
            case PlayedOut():
                if not self.is_monte_carlo:  # its playouts visit nodes below the search tree
                    self.is_monte_carlo = True
                    self.order = {(): 1}
                    self.leaves.clear()
                    self.value.clear()
                self.order.setdefault(label, len(self.order) + 1)
            case Visited() if not self.is_monte_carlo:
                self.order.setdefault(label, len(self.order) + 1)
            case Entered():
                self._entered[label] = event
                if event.window is not None:
                    self.window[label] = self.final_window[label] = event.window
            case Evaluated() if not self.is_monte_carlo:
                self.leaves.add(label)
                self.value[label] = format_short_value(event.value, self._translate)
            case CutOff():
                self.cuts.add(label)
            case Returned():
                if event.remembered:
                    self.from_table.add(label)
                if label not in self.leaves:
                    self.value[label] = self._returned_value(label, event.value)
                self._narrow(label[:-1], event.value)
            case Narrowed() if label not in self.leaves:
                lower, upper = (
                    format_short_value(event.lower, self._translate),
                    format_short_value(event.upper, self._translate),
                )
                self.value[label] = f"[{lower}, {upper}]"
            case Counted():
                self.value[label] = f"{event.mean:+.2f}\n{event.visits}"

    def _narrow(self, parent: Label, value: float | bool) -> None:
        if parent in self.final_window and self._entered[parent].test is None:
            alpha, beta = self.final_window[parent]
            if self._entered[parent].maximises:
                alpha = max(alpha, value)
            else:
                beta = min(beta, value)
            self.final_window[parent] = alpha, beta

    def _returned_value(self, label: Label, value: float | bool) -> str:
        entered = self._entered.get(label)
        relation, value = ("", value) if entered is None else entered.meaning(value)
        return f"{relation}{format_short_value(value, self._translate)}"


class _Builder:
    def __init__(
        self,
        game: NotatedGame[Any],
        notes: _NodeRecords,
        below_cuts: bool,
        translate: language.Translator,
    ) -> None:
        self._game, self._max_player, self._notes = game, game.turn, notes
        self._translate = translate
        self._below_cuts = below_cuts
        self._shows_moves = not isinstance(game, Tree)
        self._count = 0

    def node(self, label: Label, move: str, depth: int) -> SearchTreeNode | None:
        """Build the subtree at the game's position, or return None if there are too many nodes."""
        self._count += 1
        if self._count > MAX_NODES:
            return None
        game, notes = self._game, self._notes
        kind: NodeKind = "chance"
        if game.turn != CHANCE:
            kind = "MAX" if game.turn == self._max_player else "MIN"
        node = SearchTreeNode(label, kind, move if self._shows_moves else "")
        node.order = notes.order.get(label)
        node.value = notes.value.get(label, "")
        node.window, node.final_window = notes.window.get(label), notes.final_window.get(label)
        node.from_table = node.order is None and label in notes.from_table
        node.cut = label[:-1] in notes.cuts and bool(label) and not node.is_reached
        at_horizon = depth <= 0 and kind != "chance"  # chance events cost no depth
        node.is_leaf = label in notes.leaves or at_horizon or game.outcome() is not None
        if node.is_leaf:
            node.value = node.value or self._leaf_value()
            return node
        if node.order is None and not self._below_cuts:
            return node
        chances = (
            dict(game.chance_outcomes())
            if isinstance(game, ChanceGame) and kind == "chance"
            else {}
        )
        for number, child_move in enumerate(list(game.moves()), 1):
            text = language.translate_move(game.text(child_move), self._translate)
            if child_move in chances:
                text += f"\n{Fraction(chances[child_move]).limit_denominator(10_000)}"
            game.play(child_move)
            plies = 0 if kind == "chance" else 1
            child = self.node((*label, number), text, depth - plies)
            game.undo()
            if child is None:
                return None
            node.children.append(child)
        return node

    def _leaf_value(self) -> str:
        outcome = self._game.outcome() if isinstance(self._game, Tree) else None
        return "" if outcome is None else format_short_value(outcome)
