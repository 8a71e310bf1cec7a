"""What is to be drawn of a search: every node with what the search found out about it."""

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
from agent.search.tracing.search_tracing import (
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

# The most nodes of a picture that a person can still read, and the most side by side before nodes
# that tell little are gathered into one.
MAX_NODES = 600
MAX_WIDTH = 44


@dataclass
class SearchTreeNode:
    """A node of the picture. move: what led here. order: when it was first visited, from 1.

    value: in signs, such as ≥5 for a bound. window: alpha and beta when it was last entered, and
    left: what they were in the end. remembered: a table answered for it, without a visit. cut: the
    search cut this branch off. gathered: it stands for so many of its siblings, itself among them.
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
        """Whether the search came here, or asked a table instead."""
        return self.order is not None or self.from_table

    def iter_nodes(self) -> Iterable[SearchTreeNode]:
        """Generate this node and all below, each before its children."""
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
    """Return the tree below the game's position with all that the events tell.

    Branches that were cut off are there with all below them, or if that is too much, as single
    nodes; if the picture is still too wide, siblings that were not visited are gathered into one,
    and then leaves that do not give their parent its value. Of Monte Carlo tree search there is
    what has grown. Raises ValueError if even then there are too many nodes.
    """
    notes = _NodeRecords(events, translate)
    principal = _line_labels(game, pv)
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
        f"the tree has more than {MAX_NODES} nodes, too many to see: use a smaller --depth, a "
        "later position (--moves) or a smaller game (--size)"
    )


def format_short_value(value: float, translate: language.Translator = str) -> str:
    """Write a value short enough to fit into a node."""
    return language.format_value(
        value, 6 if isfinite(value) and value == int(value) else 3, translate
    )


def _line_labels(game: NotatedGame[Any], pv: Iterable[Any]) -> set[Label]:
    """Return the nodes of a line."""
    label: Label = ()
    found = {label}
    for move in pv:
        label = (*label, 1 + list(game.moves()).index(move))
        found.add(label)
        game.play(move)
    for _ in range(len(label)):
        game.undo()
    return found


def _mark(root: SearchTreeNode, principal: set[Label]) -> None:
    """Mark the principal variation, as far as it is drawn."""
    for node in root.iter_nodes():
        node.is_principal = node.label in principal


def _is_redundant(node: SearchTreeNode, child: SearchTreeNode, principal: set[Label]) -> bool:
    """Tell whether a leaf may be left out: it gives its parent no value, and is on no line."""
    if (
        child.children
        or child.label in principal
        or child.merged_count > 1
        or node.kind == "chance"
    ):
        return False
    values = [each.value for each in node.children]
    return child.value != node.value.lstrip("≥≤") or values.index(child.value) < (
        node.children.index(child)
    )


def _drop_unvisited(node: SearchTreeNode) -> None:
    """Take away what was not visited."""
    node.children = [child for child in node.children if child.is_reached]
    for child in node.children:
        _drop_unvisited(child)


def _merge_siblings(
    node: SearchTreeNode, can_merge: Callable[[SearchTreeNode, SearchTreeNode], bool]
) -> None:
    """Make one node of neighbours that can be spared, wherever there are several."""
    for child in node.children:
        _merge_siblings(child, can_merge)
    spared = [can_merge(node, child) for child in node.children]
    kept: list[SearchTreeNode] = []
    for can_be_spared, group in groupby(zip(spared, node.children, strict=True), itemgetter(0)):
        siblings = [child for _, child in group]
        if not can_be_spared or len(siblings) == 1:
            kept += siblings
            continue
        count = sum(child.merged_count for child in siblings)
        one = replace(siblings[0], move="", children=[], merged_count=count, value=f"+{count}")
        kept.append(replace(one, window=None, final_window=None, is_leaf=True))
    node.children = kept


class _NodeRecords:
    """What the events tell of each node; of several the last counts."""

    def __init__(self, events: Iterable[Event], translate: language.Translator) -> None:
        self._say = translate
        self.order: dict[Label, int] = {}
        self.value: dict[Label, str] = {}
        self.window: dict[Label, tuple[float, float]] = {}
        self.final_window: dict[Label, tuple[float, float]] = {}
        self.leaves: set[Label] = set()
        # Nodes that a table answered for, and nodes that were cut off.
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
                for notes in (
                    self.order,
                    self.value,
                    self.window,
                    self.final_window,
                    self._entered,
                ):
                    notes.clear()
                self.leaves.clear()
            case PlayedOut():
                if not self.is_monte_carlo:  # its visits go on below the tree
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
                self.value[label] = format_short_value(event.value, self._say)
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
                    format_short_value(event.lower, self._say),
                    format_short_value(event.upper, self._say),
                )
                self.value[label] = f"[{lower}, {upper}]"
            case Counted():
                self.value[label] = f"{event.mean:+.2f}\n{event.visits}"

    def _narrow(self, parent: Label, value: float | bool) -> None:
        """Bring a parent's alpha or beta up to what came back from a child."""
        if parent in self.final_window and self._entered[parent].test is None:
            alpha, beta = self.final_window[parent]
            if self._entered[parent].maximises:
                alpha = max(alpha, value)
            else:
                beta = min(beta, value)
            self.final_window[parent] = alpha, beta

    def _returned_value(self, label: Label, value: float | bool) -> str:
        """Write a value, as a bound where no more is known."""
        asked = self._entered.get(label)
        if asked is not None and asked.test is not None:
            sign, bound = asked.test
            opposite = {"≥": "<", ">": "≤"}
            return f"{sign if value else opposite[sign]}{format_short_value(bound, self._say)}"
        if asked is not None and asked.window is not None:
            alpha, beta = asked.window
            if value <= alpha:
                return f"≤{format_short_value(value, self._say)}"
            if value >= beta:
                return f"≥{format_short_value(value, self._say)}"
        return format_short_value(value, self._say)


class _Builder:
    """Walks through the game's tree."""

    def __init__(
        self,
        game: NotatedGame[Any],
        notes: _NodeRecords,
        below_cuts: bool,
        translate: language.Translator,
    ) -> None:
        self._game, self._max_player, self._notes = game, game.turn, notes
        self._say = translate
        self._below_cuts = below_cuts
        self._shows_moves = not isinstance(game, Tree)
        self._count = 0

    def node(self, label: Label, move: str, depth: int) -> SearchTreeNode | None:
        """Return the node where the game is, None if the picture has too many already."""
        self._count += 1
        if self._count > MAX_NODES:
            return None
        game, notes = self._game, self._notes
        kind: NodeKind = "chance"
        if game.turn != CHANCE:
            kind = "MAX" if game.turn == self._max_player else "MIN"
        made = SearchTreeNode(label, kind, move if self._shows_moves else "")
        made.order = notes.order.get(label)
        made.value = notes.value.get(label, "")
        made.window, made.final_window = notes.window.get(label), notes.final_window.get(label)
        made.from_table = made.order is None and label in notes.from_table
        made.cut = label[:-1] in notes.cuts and bool(label) and not made.is_reached
        beyond = depth <= 0 and kind != "chance"  # events cost no depth
        made.is_leaf = label in notes.leaves or beyond or game.outcome() is not None
        if made.is_leaf:
            made.value = made.value or self._leaf_value()
            return made
        if made.order is None and not self._below_cuts:
            return made
        chances = (
            dict(game.chance_outcomes())
            if isinstance(game, ChanceGame) and kind == "chance"
            else {}
        )
        for place, child_move in enumerate(list(game.moves()), 1):
            text = language.translate_move(game.text(child_move), self._say)
            if child_move in chances:
                text += f"\n{Fraction(chances[child_move]).limit_denominator(10_000)}"
            game.play(child_move)
            plies = 0 if kind == "chance" else 1
            child = self.node((*label, place), text, depth - plies)
            game.undo()
            if child is None:
                return None
            made.children.append(child)
        return made

    def _leaf_value(self) -> str:
        """Return what a leaf of a tree is worth that no search has looked at."""
        outcome = self._game.outcome() if isinstance(self._game, Tree) else None
        return "" if outcome is None else format_short_value(outcome)
