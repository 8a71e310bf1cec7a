"""Record the steps of the best-first algorithms SSS*, DUAL* and B*."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import inf
from typing import Any

from agent.game import NotatedGame
from agent.search.algorithm_spec import AlgorithmSpec
from agent.search.algorithms.sss_star import DualStar, State, open_list_key
from agent.search.tracing import (
    Entered,
    Evaluated,
    Event,
    Narrowed,
    OpenListChanged,
    Returned,
    Visited,
)
from agent.search.tree_cursor import Label
from kempelen.lab.recordings.recorder import Recorder, recorded_value
from kempelen.lab.recordings.recording import NodeName, Row, Sentence, Splice, Value


class OpenListRecorder(Recorder):
    """A recorder for SSS* and DUAL*. Each step processes the first state of the open list."""

    def __init__(self, game: NotatedGame[Any], algorithm: AlgorithmSpec) -> None:
        super().__init__(game, algorithm)
        self._sign = -1 if issubclass(algorithm.search_class, DualStar) else 1
        self._state: State | None = None
        self._open: list[State] = []
        self._leaf: Value = None

    def handle_event(self, event: Event) -> None:
        match event:
            case Visited():
                self.visit(event.label)
            case Evaluated():
                self.count("leaves")
                self._leaf = recorded_value(event.value)
                self.set_fields(self.node_number(event.label), leaf=True)
            case OpenListChanged():
                self._update_list(event)
            case Returned():
                if self._state is not None and not event.label:
                    self._finish(recorded_value(event.value))
                self.set_fields(
                    self.node_number(event.label), value=recorded_value(event.value), final=True
                )

    def finish(self) -> None:
        if self._changes or not self.steps:
            self.add_step("done", 0, self.end_sentence())

    def _update_list(self, event: OpenListChanged) -> None:
        added = event.added
        removed: list[State] = []
        splices: list[Splice] = []
        for start, length in self._removals():
            removed += self._open[start : start + length]
            del self._open[start : start + length]
            splices.append((start, length, []))
        start = bisect_left(self._open, open_list_key(added[0]), key=open_list_key)
        self._open[start:start] = added
        splices.append((start, 0, [self._add_row(state) for state in added]))
        self.splice_list("open", *splices)
        added_labels = {state.label for state in added}
        for state in removed:
            if state.label not in added_labels:
                self.set_fields(self.node_number(state.label), status=None)
        if self._state is None:
            self.add_step(
                "list", 0, ("list", (NodeName(0), recorded_value(self._sign * event.state.bound)))
            )
        else:
            self._step(self._state, added, len(removed) - 1)
        self._state = event.state

    def _removals(self) -> list[tuple[int, int]]:
        """Return the parts of the list that the last step removed, each as (start, length).

        The parts are in the order of removal: the first state, then the states below its parent,
        from the end of the list to its beginning.
        """
        if self._state is None:
            return []
        removals = [(0, 1)]
        parent = self._state.label[:-1]
        if self._state.solved and self._takes_all(parent):
            for at in range(len(self._open) - 2, -1, -1):
                if self._open[at + 1].label[: len(parent)] != parent:
                    continue
                if removals[-1][0] == at + 1:
                    removals[-1] = at, removals[-1][1] + 1
                else:
                    removals.append((at, 1))
        return removals

    def _takes_all(self, label: Label) -> bool:
        return (len(label) % 2 == 0) == (self._sign > 0)

    def _add_row(self, state: State) -> Row:
        label, solved, bound = state
        node, value = self.node_number(label), recorded_value(self._sign * bound)
        status = "solved" if solved else "live"
        self.set_fields(node, seen=True, status=status, value=value)
        return node, (NodeName(node), status, value)

    def _step(self, state: State, added: Sequence[State], n_others: int) -> None:
        label, parent = state.label, state.label[:-1]
        node = self.node_number(label)
        name = NodeName(node)
        sentence: Sentence
        if not state.solved:
            if self._leaf is not None:
                bounds = (
                    recorded_value(self._sign * each) for each in (state.bound, added[0].bound)
                )
                kind, sentence = "leaf", ("leaf", (name, self._leaf, *bounds))
            else:
                kind = "all" if self._takes_all(label) or len(added) > 1 else "first"
                sentence = (kind, (name,))
        elif added[0].label == parent:
            if self._takes_all(parent):
                kind = "parent"
                if n_others:
                    self.count("cutoffs")
            else:
                kind = "last"
            sentence = (kind, (name,))
        else:
            kind, sentence = "next", ("next", (name,))
        self._leaf = None
        self.add_step("cut" if kind == "parent" and n_others else kind, node, sentence,
                 lines=[kind], changes_value=kind in ("leaf", "parent", "last"))  # fmt: skip

    def _finish(self, value: Value) -> None:
        self.splice_list("open", (0, len(self._open), []))
        self.set_fields(0, value=value, final=True)
        self.add_step("done", 0, ("solved", (value,)), self.end_sentence(), changes_value=True)
        self._state = None


# A step of B* that changes the bounds of more nodes only states their number.
MAX_BOUNDS = 4


class BStarRecorder(Recorder):
    """A recorder for B* that shows expanded nodes and changes of bounds."""

    def __init__(self, game: NotatedGame[Any], algorithm: AlgorithmSpec) -> None:
        super().__init__(game, algorithm)
        self._narrowed: list[Narrowed] = []
        self._bounds: dict[Label, Narrowed] = {}

    def handle_event(self, event: Event) -> None:
        """Add the steps for one event. Consecutive changes of bounds become one step."""
        if self._narrowed and not isinstance(event, (Narrowed, Visited, Evaluated)):
            self._add_bounds_step()
        match event:
            case Visited():
                self.visit(event.label)
            case Evaluated():
                self.count("leaves")
                self.set_fields(
                    self.node_number(event.label), leaf=True, value=recorded_value(event.value)
                )
            case Narrowed():
                self._narrowed.append(event)
            case Entered():
                node = self.node_number(event.label)
                self.set_fields(node, expanded=True)
                self.add_step("expand", node, ("expand", (NodeName(node),)))

    def finish(self) -> None:
        if self._narrowed:
            self._add_bounds_step()
        self.add_step("done", 0, self.end_sentence(), *self._stop_reason())

    def _stop_reason(self) -> list[Sentence]:
        """Explain why the search may end: the bounds tell which move is best."""
        chosen = self.ending.chosen
        if chosen is None:
            return []
        others = [
            event.upper for label, event in self._bounds.items()
            if len(label) == 1 and label != chosen
        ]  # fmt: skip
        name = self.node_name(chosen)
        if not others:
            return [("ends-only", (name,))]
        least = self._bounds[chosen].lower
        return [("ends-bounds", (name, recorded_value(least), recorded_value(max(others))))]

    def _add_bounds_step(self) -> None:
        sentences: list[Sentence] = []
        unbounded = 0
        lines = set()
        for event in self._narrowed:
            node = self.node_number(event.label)
            lower, upper = recorded_value(event.lower), recorded_value(event.upper)
            self.set_fields(node, lower=lower, upper=upper, seen=True)
            is_new = event.label not in self._bounds
            lines.add("bounds" if not is_new else "evaluate" if event.label else "begin")
            self._bounds[event.label] = event
            if is_new and event.label and -event.lower == event.upper == inf:
                unbounded += 1
            else:
                sentences.append(("bounds", (NodeName(node), lower, upper)))
        if len(sentences) > MAX_BOUNDS:
            sentences = [("closer", (len(sentences),))]
        if unbounded:
            key = "unbounded-one" if unbounded == 1 else "unbounded"
            sentences.append((key, (unbounded,)))
        first = self.node_number(self._narrowed[0].label)
        self._narrowed = []
        self.add_step("bounds", first, *sentences, lines=lines, changes_value=True)
