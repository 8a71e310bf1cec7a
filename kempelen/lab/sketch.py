"""What is to be drawn of a search: every node with what the search found out about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal

from agent.game import CHANCE, Written
from agent.games.tree import Tree
from agent.search.cursor import Label
from agent.search.observing import (
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
from kempelen.lab import words

Kind = Literal["MAX", "MIN", "chance"]

# The most nodes of a picture that a person can still read.
MOST_NODES = 600


@dataclass
class Sketched:
    """A node of the picture. move: what led here. order: when it was first visited, from 1.

    value: in signs, such as ≥5 for a bound. window: alpha and beta when it was last entered.
    remembered: a table answered for it, without a visit. cut: the search cut this branch off.
    """

    label: Label
    kind: Kind
    move: str
    children: list[Sketched] = field(default_factory=list)
    order: int | None = None
    value: str = ""
    window: tuple[float, float] | None = None
    is_leaf: bool = False
    is_principal: bool = False
    remembered: bool = False
    cut: bool = False

    @property
    def is_reached(self) -> bool:
        """Whether the search came here, or asked a table instead."""
        return self.order is not None or self.remembered

    def everything(self) -> Iterable[Sketched]:
        """Generate this node and all below, each before its children."""
        yield self
        for child in self.children:
            yield from child.everything()


def sketch(
    game: Written[Any],
    depth: int,
    events: Iterable[Event],
    pv: Iterable[Any] = (),
    say: words.Say = str,
) -> Sketched:
    """Return the tree below the game's position with all that the events tell.

    Branches that were cut off are there with all below them, or if that is too much, as single
    nodes. Raises ValueError if even then there are too many nodes.
    """
    notes = _Notes(events, say)
    max_player = game.turn
    for below_cuts in (True, False):
        builder = _Builder(game, max_player, notes, below_cuts, say)
        root = builder.node((), "", depth)
        if root is not None:
            _mark(game, root, pv)
            return root
    raise ValueError(
        f"the tree has more than {MOST_NODES} nodes, too many to see: use a smaller --depth, a "
        "later position (--moves) or a smaller game (--size)"
    )


def number(value: float, say: words.Say = str) -> str:
    """Write a value short enough to fit into a node."""
    return words.number(value, 6 if isfinite(value) and value == int(value) else 3, say)


class _Notes:
    """What the events tell of each node; of several the last counts."""

    def __init__(self, events: Iterable[Event], say: words.Say) -> None:
        self._say = say
        self.order: dict[Label, int] = {}
        self.value: dict[Label, str] = {}
        self.window: dict[Label, tuple[float, float]] = {}
        self.leaves: set[Label] = set()
        # Nodes that a table answered for, and nodes that were cut off.
        self.remembered: set[Label] = set()
        self.cuts: set[Label] = set()
        self._asked: dict[Label, Entered] = {}
        self._is_monte_carlo = False
        for event in events:
            self._take(event)

    def _take(self, event: Event) -> None:
        label = event.label
        match event:
            case BegunAnew():
                for notes in (self.order, self.value, self.window, self._asked):
                    notes.clear()
                self.leaves.clear()
            case PlayedOut():
                if not self._is_monte_carlo:  # its visits go on below the tree
                    self._is_monte_carlo = True
                    self.order = {(): 1}
                    self.leaves.clear()
                    self.value.clear()
                self.order.setdefault(label, len(self.order) + 1)
            case Visited() if not self._is_monte_carlo:
                self.order.setdefault(label, len(self.order) + 1)
            case Entered():
                self._asked[label] = event
                if event.window is not None:
                    self.window[label] = event.window
            case Evaluated() if not self._is_monte_carlo:
                self.leaves.add(label)
                self.value[label] = number(event.value, self._say)
            case CutOff():
                self.cuts.add(label)
            case Returned():
                if event.remembered:
                    self.remembered.add(label)
                if label not in self.leaves:
                    self.value[label] = self._returned(label, event.value)
            case Narrowed() if label not in self.leaves:
                lower, upper = number(event.lower, self._say), number(event.upper, self._say)
                self.value[label] = f"[{lower}, {upper}]"
            case Counted():
                self.value[label] = f"{event.mean:+.2f}\n{event.visits}"

    def _returned(self, label: Label, value: float | bool) -> str:
        """Write a value, as a bound where no more is known."""
        asked = self._asked.get(label)
        if asked is not None and asked.test is not None:
            sign, bound = asked.test
            opposite = {"≥": "<", ">": "≤"}
            return f"{sign if value else opposite[sign]}{number(bound, self._say)}"
        if asked is not None and asked.window is not None:
            alpha, beta = asked.window
            if value <= alpha:
                return f"≤{number(value, self._say)}"
            if value >= beta:
                return f"≥{number(value, self._say)}"
        return number(value, self._say)


class _Builder:
    """Walks through the game's tree."""

    def __init__(
        self,
        game: Written[Any],
        max_player: int,
        notes: _Notes,
        below_cuts: bool,
        say: words.Say,
    ) -> None:
        self._game, self._max_player, self._notes = game, max_player, notes
        self._say = say
        self._below_cuts = below_cuts
        self._shows_moves = not isinstance(game, Tree)
        self._count = 0

    def node(self, label: Label, move: str, depth: int) -> Sketched | None:
        """Return the node where the game is, None if the picture has too many already."""
        self._count += 1
        if self._count > MOST_NODES:
            return None
        game, notes = self._game, self._notes
        kind: Kind = "chance"
        if game.turn != CHANCE:
            kind = "MAX" if game.turn == self._max_player else "MIN"
        made = Sketched(label, kind, move if self._shows_moves else "")
        made.order = notes.order.get(label)
        made.value = notes.value.get(label, "")
        made.window = notes.window.get(label)
        made.remembered = made.order is None and label in notes.remembered
        made.cut = label[:-1] in notes.cuts and bool(label) and not made.is_reached
        beyond = depth <= 0 and kind != "chance"  # events cost no depth
        made.is_leaf = label in notes.leaves or beyond or game.outcome() is not None
        if made.is_leaf:
            made.value = made.value or self._known()
            return made
        if made.order is None and not self._below_cuts:
            return made
        for place, child_move in enumerate(list(game.moves()), 1):
            text = words.move(game.text(child_move), self._say)
            game.play(child_move)
            plies = 0 if kind == "chance" else 1
            child = self.node((*label, place), text, depth - plies)
            game.undo()
            if child is None:
                return None
            made.children.append(child)
        return made

    def _known(self) -> str:
        """Return what a leaf of a tree is worth that no search has looked at."""
        outcome = self._game.outcome() if isinstance(self._game, Tree) else None
        return "" if outcome is None else number(outcome)


def _mark(game: Written[Any], root: Sketched, pv: Iterable[Any]) -> None:
    """Mark the principal variation."""
    root.is_principal = True
    node, played = root, 0
    for move in pv:
        place = list(game.moves()).index(move)
        if place >= len(node.children):
            break
        node = node.children[place]
        node.is_principal = True
        game.play(move)
        played += 1
    for _ in range(played):
        game.undo()
