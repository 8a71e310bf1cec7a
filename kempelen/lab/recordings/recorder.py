"""Convert the trace events of a search into a recording."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, nextafter
from typing import Any

from agent.game import CHANCE, ChanceGame, NotatedGame
from agent.games.tree import Tree
from agent.search.algorithm_spec import AlgorithmSpec
from agent.search.tracing import Event
from agent.search.tree_cursor import Label, TreeCursor
from kempelen.lab import language
from kempelen.lab.board_data import board_data
from kempelen.lab.problems import innermost_game
from kempelen.lab.pseudocode import CALLER_STEPS, other_form, other_step, pseudocode
from kempelen.lab.recordings.recording import (
    SEARCH_NODE,
    Change,
    NodeName,
    RecordedNode,
    RecordedStep,
    Row,
    Sentence,
    Splice,
    Value,
    diff_rows,
)

# Trees with at most MAX_PREBUILT_NODES nodes are shown completely from the start.
MAX_PREBUILT_NODES = 3000


def recorded_value(value: float, digits: int = 4) -> Value:
    """Format a value with `digits` significant digits, or exactly if it is an integer below 1e9."""
    exact = abs(value) != inf and value == int(value)
    return language.format_value(value, 9 if exact and abs(value) < 1e9 else digits)


@dataclass(frozen=True)
class Ending:
    """The chosen move, as the label of its node, and the formatted value.

    The label is None if there is no move, the value "" if a limit stopped the search. `is_proven`
    tells whether Monte Carlo tree search has proven that the move wins.
    """

    chosen: Label | None = None
    value: str = ""
    is_proven: bool = False


class Recorder(ABC):
    """Base class for recorders, which convert the trace events of one search into steps."""

    def __init__(self, game: NotatedGame[Any], algorithm: AlgorithmSpec) -> None:
        self.nodes: list[RecordedNode] = []
        self.steps: list[RecordedStep] = []
        self.listing, self.step_lines = pseudocode(algorithm)
        self.other_form, self.other_listing, self._other_lines = other_form(algorithm)
        self._game = game
        self._max_player = 0 if game.turn == CHANCE else game.turn
        self.numbers: dict[Label, int] = {}
        self._go_to = TreeCursor(game).go_to
        self._fields: dict[tuple[int, str], Value] = {}
        self._lists: dict[str, list[Row]] = {}
        self._changes: list[Change] = []
        self._splices: dict[str, tuple[Splice, ...]] = {}
        self._is_and_or = algorithm.search_class.name == "and-or"
        self._order = 0
        self.ending = Ending()
        # The event after the one that is being handled.
        self.following: Event | None = None
        self.node_number(())
        if isinstance(game, Tree):
            self._add_all_nodes()

    def record(self, events: Sequence[Event], ending: Ending | None = None) -> None:
        """Convert the events to steps, and restore the game's position."""
        self.ending = ending or Ending()
        try:
            for event, self.following in zip(events, [*events[1:], None], strict=False):
                self.handle_event(event)
            self.finish()
        finally:
            self._go_to(())

    @abstractmethod
    def handle_event(self, event: Event) -> None:
        """Add the steps for one event."""

    @abstractmethod
    def finish(self) -> None:
        """Add the steps for changes that are pending after the last event."""

    def node_number(self, label: Label) -> int:
        """Return the number of the node with this label. Create the node if it does not exist."""
        known = self.numbers.get(label)
        if known is not None:
            return known
        parent = self.node_number(label[:-1]) if label else SEARCH_NODE
        self._go_to(label[:-1])
        move, probability = "", None
        if label and label[-1]:
            move_played = self._moves()[label[-1] - 1]
            move = self._game.text(move_played)
            if self._game.turn == CHANCE and isinstance(self._game, ChanceGame):
                probability = dict(self._game.chance_outcomes())[move_played]
        elif label:
            move = "pass"
        self._go_to(label)
        number = self.numbers[label] = len(self.nodes)
        name = getattr(innermost_game(self._game), "name", None)
        known_value = self._game.outcome() if isinstance(self._game, Tree) else None
        static_value = self._game.note.static_value if isinstance(self._game, Tree) else None
        self.nodes.append(
            RecordedNode(
                parent,
                label[-1] if label else 0,
                "" if isinstance(self._game, Tree) else move,
                self._kind(),
                board_data(self._game),
                probability,
                name if isinstance(name, str) else "",
                None if known_value is None else recorded_value(known_value),
                None if static_value is None else recorded_value(static_value),
            )
        )
        return number

    def set_fields(self, node: int, **fields: Value) -> None:
        """Set fields of a node. The changes become part of the next step."""
        for name, value in fields.items():
            if self._fields.get((node, name)) != value:
                self._fields[node, name] = value
                self._changes.append((node, name, value))

    def get_field(self, node: int, name: str) -> Value:
        return self._fields.get((node, name))

    def count(self, name: str, amount: int = 1) -> None:
        known = self.get_field(SEARCH_NODE, name)
        self.set_fields(SEARCH_NODE, **{name: (known if isinstance(known, int) else 0) + amount})

    def visit(self, label: Label) -> None:
        """Count a visit to a node, and mark the node as seen."""
        self.count("nodes")
        self.mark_seen(self.node_number(label))

    def mark_seen(self, node: int) -> None:
        """Mark a node as seen, and assign it the next visit number."""
        self._order += 1
        self.set_fields(node, seen=True, order=self._order)

    def set_list(self, name: str, rows: Sequence[Row]) -> None:
        """Replace all rows of a list. Call at most once per list and step."""
        previous = self._lists.get(name, [])
        splice = diff_rows(previous, list(rows))
        if splice is not None:
            self._lists[name] = list(rows)
            self._splices[name] = (splice,)

    def splice_list(self, name: str, *splices: Splice) -> None:
        """Replace parts of a list.

        Call at most once per list and step, and not together with `set_list`.
        """
        self._splices[name] = splices

    def add_step(
        self,
        kind: str,
        node: int,
        *sentences: Sentence,
        lines: Iterable[str] = (),
        changes_value: bool = False,
    ) -> None:
        """Add a step with all changes since the previous step.

        `lines` names the steps whose pseudocode is highlighted, by default `kind`.
        """
        highlighted = {
            line for each in (lines or (kind,)) for line in self.step_lines.get(each, ())
        }
        others = {
            line
            for each in (lines or (kind,))
            for line in self._other_lines.get(self._other_step(each, node), ())
        }
        self.steps.append(
            RecordedStep(
                kind, node, sentences, tuple(sorted(highlighted)), tuple(self._changes),
                dict(self._splices), changes_value, tuple(sorted(others)),
            )
        )  # fmt: skip
        self._changes, self._splices = [], {}

    def _other_step(self, name: str, node: int) -> str:
        """Return the step of the other form of the pseudocode, by the side to move."""
        base = name.partition("-")[0]
        mover = self.nodes[node].parent if base in CALLER_STEPS else node
        return other_step(name, self.nodes[max(mover, 0)].kind, self._other_lines)

    def end_sentence(self) -> Sentence:
        """Return the sentence about the result of the search."""
        chosen, value = self.ending.chosen, self.ending.value
        if not value:
            return "done", ()
        if chosen is None:
            return "ends-value", (value,)
        return "ends", (self.node_name(chosen), value)

    def step_keys(self, label: Label, *names: str) -> list[str]:
        """Return the steps that highlight lines of pseudocode at a node.

        A step that is limited to the side to move replaces a general one.
        """
        kind = self.nodes[self.node_number(label)].kind
        side = {"or": "max", "and": "min"}.get(kind, kind)
        limited = {name: f"{name}-{side}" for name in names}
        return [each if each in self.step_lines else name for name, each in limited.items()]

    def node_name(self, label: Label) -> NodeName:
        """Return a placeholder for the node's name in sentences."""
        return NodeName(self.node_number(label))

    def mover(self, label: Label) -> str:
        """Return "MAX", "MIN", "OR", "AND" or "chance" for the side to move at a node."""
        kind = self.nodes[self.node_number(label)].kind
        return kind if kind == "chance" else kind.upper()

    def move_count(self, label: Label) -> int:
        self._go_to(label)
        return len(self._moves())

    def key_at(self, label: Label) -> Any:
        self._go_to(label)
        return self._game.key()

    def _moves(self) -> list[Any]:
        return list(self._game.moves())

    def _kind(self) -> str:
        if self._game.turn == CHANCE:
            return "chance"
        maximises = self._game.turn == self._max_player
        if self._is_and_or:
            return "or" if maximises else "and"
        return "max" if maximises else "min"

    def _add_all_nodes(self) -> None:
        labels: list[Label] = [()]
        for label in labels:
            if len(labels) > MAX_PREBUILT_NODES:
                return
            labels += [(*label, place) for place in range(1, self.move_count(label) + 1)]
        for label in labels:
            self.node_number(label)


def is_null_window(window: tuple[float, float]) -> bool:
    """Return whether no value lies strictly between the bounds of the window."""
    low, high = window
    return nextafter(low, inf) == high or (isinstance(low, int) and high == low + 1)
