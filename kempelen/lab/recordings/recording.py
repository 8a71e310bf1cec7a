"""A search as steps that go forward and back: the tree, and what each step changes in it.

It knows nothing of pages: `as_json` is what a page, a terminal or any other program replays, and
`Replay` is how. A step's changes are `[node, field, value]`, where node -1 is the search itself,
whose fields are counts; lists, such as the stack, change by splices `[start, removed, rows]`, one
after the other, a row being a node and its cells. A field without a value is absent.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

Value: TypeAlias = "float | int | str | bool | None"
Change: TypeAlias = "tuple[int, str, Value]"
# A node, or -1, and what is told of it.
Row: TypeAlias = "tuple[int, tuple[Value | Part, ...]]"
Splice: TypeAlias = "tuple[int, int, list[Row]]"
# A word or number of a sentence; NodeName stands for what a node is called.
Part: TypeAlias = "Value | NodeName"
# The key of a sentence, and what is filled in.
Sentence: TypeAlias = "tuple[str, tuple[Part, ...]]"

# What the whole search counts, as fields of node SEARCH.
SEARCH_NODE = -1


@dataclass(frozen=True)
class NodeName:
    """Stands in a sentence for the name of a node."""

    node: int


@dataclass(frozen=True)
class RecordedNode:
    """A node of the tree and what never changes of it; its number is its place in the list.

    parent: a node, -1 of the root. place: of the move among its siblings, from 1; 0 is a pass.
    move: in the game's notation. kind: "max", "min", "chance", "or" or "and". board: as
    kempelen.lab.board_data tells it. chance: the probability of the event that led here. known: what
    a leaf of a given tree is worth before any search has seen it.
    """

    parent: int
    place: int
    move: str
    kind: str
    board: dict[str, Any] | None = None
    chance: float | None = None
    name: str = ""
    known: Value = None


@dataclass(frozen=True)
class RecordedStep:
    """What happens at once.

    kind: as the recorders name it: enter, evaluate, cut, return, list, select, ... node: where.
    said: sentences that tell it. lines: of the pseudo-code, from 0. changes, lists: what is then
    otherwise. turns: whether a value of a node inside the tree changes.
    """

    kind: str
    node: int
    sentences: tuple[Sentence, ...]
    lines: tuple[int, ...]
    changes: tuple[Change, ...] = ()
    lists: dict[str, tuple[Splice, ...]] = field(default_factory=dict)
    changes_value: bool = False


@dataclass(frozen=True)
class Recording:
    """A search that was recorded.

    listing: the algorithm's pseudo-code, line by line. theory: what theory says of such trees.
    stopped: whether a limit ended the search. principal: the nodes of the principal variation.
    given: the tree as a file of `--tree` tells it, each node by keys, if it is one and small.
    """

    game: str
    algorithm: str
    nodes: list[RecordedNode]
    steps: list[RecordedStep]
    listing: list[str]
    theory: dict[str, float] | None = None
    principal: tuple[int, ...] = ()
    stopped: bool = False
    given: dict[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON tells it, short: what is absent or empty is left out."""
        return {
            "game": self.game,
            "algorithm": self.algorithm,
            "nodes": [_without_empty(asdict(node)) for node in self.nodes],
            "steps": [_step_as_json(step) for step in self.steps],
            "listing": self.listing,
            "theory": self.theory,
            "principal": list(self.principal),
            "stopped": self.stopped,
            "given": self.given,
        }


class Replay:
    """The state of a recorded search after so many steps; what each step undoes is kept."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        # The fields of each node, SEARCH too, and the rows of each list.
        self.fields: dict[int, dict[str, Value]] = {}
        self.lists: dict[str, list[Row]] = {}
        self._undo: list[tuple[list[Change], list[tuple[str, Splice]]]] = []

    @property
    def step_count(self) -> int:
        """The number of steps made."""
        return len(self._undo)

    @property
    def step(self) -> RecordedStep | None:
        """The step made last."""
        return self.recording.steps[self.step_count - 1] if self.step_count else None

    def forward(self) -> bool:
        """Make a step; return False at the end."""
        if self.step_count == len(self.recording.steps):
            return False
        step = self.recording.steps[self.step_count]
        before = [self._set(change) for change in step.changes]
        rows = [
            (name, self._splice(name, splice))
            for name, splices in step.lists.items()
            for splice in splices
        ]
        self._undo.append((before[::-1], rows[::-1]))
        return True

    def back(self) -> bool:
        """Take a step back; return False at the beginning."""
        if not self._undo:
            return False
        before, rows = self._undo.pop()
        for name, splice in rows:
            self._splice(name, splice)
        for change in before:
            self._set(change)
        return True

    def seek(self, step: int) -> None:
        """Go to where so many steps are made, or to the end that is nearest."""
        while self.step_count < step and self.forward():
            pass
        while self.step_count > step and self.back():
            pass

    def next_cutoff(self) -> bool:
        """Go on to the next cut-off; return False, staying, if there is none."""
        return self._seek_next(lambda step: step.kind == "cut")

    def next_value_change(self) -> bool:
        """Go on to the next change of a value; return False, staying, if there is none."""
        return self._seek_next(lambda step: step.changes_value)

    def state(self) -> tuple[dict[int, dict[str, Value]], dict[str, list[Row]]]:
        """Return a copy of the state, without what is empty."""
        fields = {node: dict(found) for node, found in self.fields.items() if found}
        return fields, {name: list(rows) for name, rows in self.lists.items() if rows}

    def _seek_next(self, wanted: Any) -> bool:
        steps = self.recording.steps
        for number in range(self.step_count, len(steps)):
            if wanted(steps[number]):
                self.seek(number + 1)
                return True
        return False

    def _set(self, change: Change) -> Change:
        """Change a field; return what changes it back."""
        node, name, value = change
        fields = self.fields.setdefault(node, {})
        before = fields.pop(name, None)
        if value is not None:
            fields[name] = value
        return node, name, before

    def _splice(self, name: str, splice: Splice) -> Splice:
        """Change a list; return what changes it back."""
        start, removed, rows = splice
        known = self.lists.setdefault(name, [])
        before = known[start : start + removed]
        known[start : start + removed] = rows
        return start, len(rows), before


def diff_rows(before: list[Row], after: list[Row]) -> Splice | None:
    """Return the smallest splice that makes one list the other, None if they are equal."""
    start = 0
    least = min(len(before), len(after))
    while start < least and before[start] == after[start]:
        start += 1
    end = 0
    while end < least - start and before[-1 - end] == after[-1 - end]:
        end += 1
    if start == len(before) == len(after):
        return None
    return start, len(before) - start - end, after[start : len(after) - end]


def _step_as_json(step: RecordedStep) -> dict[str, Any]:
    told: dict[str, Any] = {
        "kind": step.kind,
        "node": step.node,
        "said": [[key, *map(_part, parts)] for key, parts in step.sentences],
        "lines": list(step.lines),
        "changes": [list(change) for change in step.changes],
        "lists": {
            name: [
                [start, removed, [[node, *map(_part, cells)] for node, cells in rows]]
                for start, removed, rows in splices
            ]
            for name, splices in step.lists.items()
        },
        "turns": step.changes_value,
    }
    return {name: value for name, value in told.items() if value not in ([], {}, False)} | {
        "node": step.node
    }


def _part(part: Part) -> Any:
    return {"node": part.node} if isinstance(part, NodeName) else part


def _without_empty(told: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if value not in (None, "")}
