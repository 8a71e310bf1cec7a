"""The recording of a search: its tree, and the changes made by each step.

A change is `[node, field, value]`, where null removes the field. Node -1 has the counters of the
whole search. A change of a list, such as the stack, is a splice `[start, removed, rows]`: `rows`
replace `removed` rows at index `start`. A row is a node number and its cells.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeAlias

from kempelen.lab.pseudocode import FORMS

Value: TypeAlias = "float | int | str | bool | None"
Change: TypeAlias = "tuple[int, str, Value]"
# A node number, or -1, and the cells of the row.
Row: TypeAlias = "tuple[int, tuple[Value | Part, ...]]"
Splice: TypeAlias = "tuple[int, int, list[Row]]"
# An argument of a sentence.
Part: TypeAlias = "Value | NodeName | MoveName"
# The key of a sentence, and its arguments.
Sentence: TypeAlias = "tuple[str, tuple[Part, ...]]"

# The node number for counters of the whole search.
SEARCH_NODE = -1


@dataclass(frozen=True)
class NodeName:
    """A placeholder for a node's name in a sentence."""

    node: int


@dataclass(frozen=True)
class MoveName:
    """The name of a node that is not in the tree yet: its path, and the move that leads to it."""

    label: str
    move: str


@dataclass(frozen=True)
class RecordedNode:
    """A node, with those of its data that do not change during the search.

    `parent` is a node number, or -1 for the root. Node numbers are indices in `Recording.nodes`.
    `place` is the number of the move among the parent's legal moves, from 1, or 0 for a null move.
    `kind` is "max", "min", "chance", "or" or "and".
    `board` is the result of `board_data`.
    `chance` is the probability of the chance event that leads to the node.
    `known` is the value of a leaf in an explicit tree, and `static` the static evaluation of an
    inner node, both for MAX.
    """

    parent: int
    place: int
    move: str
    kind: str
    board: dict[str, Any] | None = None
    chance: float | None = None
    name: str = ""
    known: Value = None
    static: Value = None


@dataclass(frozen=True)
class RecordedStep:
    """One step of a recording.

    `kind` is the type of the step, such as "enter", "evaluate", "cut", "return" or "select".
    `node` is the number of the current node.
    `lines` holds the indices of the highlighted lines of pseudocode.
    `lists` maps the name of each changed list to its splices.
    `changes_value` tells whether the value of an inner node changes.
    `other_lines` is the same as `lines` for the other form of the pseudocode.
    """

    kind: str
    node: int
    sentences: tuple[Sentence, ...]
    lines: tuple[int, ...]
    changes: tuple[Change, ...] = ()
    lists: dict[str, tuple[Splice, ...]] = field(default_factory=dict)
    changes_value: bool = False
    other_lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Recording:
    """The recording of a search.

    `listing` holds the lines of pseudocode. `theory` holds the predicted leaf counts of a uniform
    tree. `principal` holds the node numbers of the principal variation. `stopped` tells whether a
    limit stopped the search. `given` is a small explicit tree as nested data in the format of a
    tree file, otherwise None. `other_listing` holds the pseudocode in another form, whose name is
    `other_form`, "" if there is none.
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
    other_form: str = ""
    other_listing: tuple[str, ...] = ()

    def with_form(self, form: str) -> Recording:
        """Return the recording with this form of the pseudocode first, if there is one."""
        if form != self.other_form:
            return self
        steps = [
            replace(step, lines=step.other_lines, other_lines=step.lines) for step in self.steps
        ]
        return replace(
            self,
            steps=steps,
            listing=list(self.other_listing),
            other_form=next(each for each in FORMS if each != form),
            other_listing=tuple(self.listing),
        )

    def as_json(self) -> dict[str, Any]:
        """Return the recording as JSON data. Empty entries of nodes and steps are omitted."""
        return {
            "game": self.game,
            "algorithm": self.algorithm,
            "nodes": [_without_empty(asdict(node)) for node in self.nodes],
            "steps": [_step_as_json(step) for step in self.steps],
            "listing": self.listing,
            "form": self.other_form and next(each for each in FORMS if each != self.other_form),
            "otherForm": self.other_form,
            "otherListing": list(self.other_listing),
            "theory": self.theory,
            "principal": list(self.principal),
            "stopped": self.stopped,
            "given": self.given,
        }


class Replay:
    """The state of a recorded search, which can move forward and back by steps."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        # Fields by node (including SEARCH_NODE), and rows by list.
        self.fields: dict[int, dict[str, Value]] = {}
        self.lists: dict[str, list[Row]] = {}
        self._undo: list[tuple[list[Change], list[tuple[str, Splice]]]] = []

    @property
    def step_count(self) -> int:
        return len(self._undo)

    @property
    def step(self) -> RecordedStep | None:
        """The last applied step, or None at the beginning."""
        return self.recording.steps[self.step_count - 1] if self.step_count else None

    def forward(self) -> bool:
        """Apply the next step, or return False at the end."""
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
        """Undo the last step, or return False at the beginning."""
        if not self._undo:
            return False
        before, rows = self._undo.pop()
        for name, splice in rows:
            self._splice(name, splice)
        for change in before:
            self._set(change)
        return True

    def seek(self, step: int) -> None:
        """Move to the state after `step` steps, or to the nearest valid state."""
        while self.step_count < step and self.forward():
            pass
        while self.step_count > step and self.back():
            pass

    def next_cutoff(self) -> bool:
        """Move to the next cut-off, or return False if no cut-off follows."""
        return self._seek_next(lambda step: step.kind == "cut")

    def next_value_change(self) -> bool:
        """Move to the next change of an inner node's value, or return False if none follows."""
        return self._seek_next(lambda step: step.changes_value)

    def state(self) -> tuple[dict[int, dict[str, Value]], dict[str, list[Row]]]:
        """Return copies of the nodes' fields and of the lists' rows, without empty entries."""
        fields = {node: dict(found) for node, found in self.fields.items() if found}
        return fields, {name: list(rows) for name, rows in self.lists.items() if rows}

    def _seek_next(self, matches: Any) -> bool:
        steps = self.recording.steps
        for number in range(self.step_count, len(steps)):
            if matches(steps[number]):
                self.seek(number + 1)
                return True
        return False

    def _set(self, change: Change) -> Change:
        node, name, value = change
        fields = self.fields.setdefault(node, {})
        before = fields.pop(name, None)
        if value is not None:
            fields[name] = value
        return node, name, before

    def _splice(self, name: str, splice: Splice) -> Splice:
        start, removed, rows = splice
        list_rows = self.lists.setdefault(name, [])
        before = list_rows[start : start + removed]
        list_rows[start : start + removed] = rows
        return start, len(rows), before


def diff_rows(before: list[Row], after: list[Row]) -> Splice | None:
    """Return the smallest splice that turns `before` into `after`, or None if they are equal."""
    start = 0
    n_common = min(len(before), len(after))
    while start < n_common and before[start] == after[start]:
        start += 1
    end = 0
    while end < n_common - start and before[-1 - end] == after[-1 - end]:
        end += 1
    if start == len(before) == len(after):
        return None
    return start, len(before) - start - end, after[start : len(after) - end]


def _step_as_json(step: RecordedStep) -> dict[str, Any]:
    data: dict[str, Any] = {
        "kind": step.kind,
        "node": step.node,
        "said": [[key, *map(_part, parts)] for key, parts in step.sentences],
        "lines": list(step.lines),
        "others": list(step.other_lines),
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
    return {name: value for name, value in data.items() if value not in ([], {}, False)} | {
        "node": step.node
    }


def _part(part: Part) -> Any:
    if isinstance(part, NodeName):
        return {"node": part.node}
    return asdict(part) if isinstance(part, MoveName) else part


def _without_empty(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value not in (None, "")}
