"""Steps of the best-first algorithms: SSS* and DUAL* by their open list, B* by its bounds."""

from __future__ import annotations

from math import inf
from typing import Any

from agent.game import NotatedGame
from agent.search.algorithm_spec import AlgorithmSpec
from agent.search.algorithms.sss_star import DualStar, State
from agent.search.tracing.detailed_tracing import OpenListChanged
from agent.search.tracing.search_tracing import (
    Entered,
    Evaluated,
    Event,
    Narrowed,
    Returned,
    Visited,
)
from kempelen.lab.recordings.recorder import Recorder, recorded_value
from kempelen.lab.recordings.recording import NodeName, Row, Sentence, Splice, Value


class OpenListRecorder(Recorder):
    """SSS* and DUAL*: a step is what is done with the first state of the list."""

    def __init__(self, game: NotatedGame[Any], algorithm: AlgorithmSpec) -> None:
        super().__init__(game, algorithm)
        self._sign = -1 if issubclass(algorithm.search_class, DualStar) else 1
        self._state: State | None = None
        self._open: list[State] = []
        self._leaf: Value = None

    def handle_event(self, event: Event) -> None:
        """Take the list before a step, and what the step looks at."""
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
        """Put the values that are left into the last step."""
        if self._changes or not self.steps:
            self.add_step("done", 0, ("done", ()))

    def _update_list(self, event: OpenListChanged) -> None:
        """Take what has changed in the list, and tell what became of the state that was first."""
        gone: list[State] = []
        put: list[State] = []
        splices: list[Splice] = []
        for start, removed, states in event.splices:
            gone += self._open[start : start + removed]
            put += states
            self._open[start : start + removed] = states
            splices.append((start, removed, [self._add_row(each) for each in states]))
        self.splice_list("open", *splices)
        there = {each.label for each in put}
        for each in gone:
            if each.label not in there:
                self.set_fields(self.node_number(each.label), status=None)
        if self._state is None:
            self.add_step(
                "list", 0, ("list", (NodeName(0), recorded_value(self._sign * event.state.bound)))
            )
        else:
            self._step(self._state, put, len(gone) - 1)
        self._state = event.state

    def _add_row(self, state: State) -> Row:
        """Return the row of a state that comes into the list, and show it at its node."""
        label, solved, bound = state
        node, value = self.node_number(label), recorded_value(self._sign * bound)
        status = "solved" if solved else "live"
        self.set_fields(node, seen=True, status=status, value=value)
        return node, (NodeName(node), status, value)

    def _step(self, state: State, put: list[State], others: int) -> None:
        """Tell what became of a state: which were put in its place, and how many others left."""
        label, parent = state.label, state.label[:-1]
        node = self.node_number(label)
        name = NodeName(node)
        said: Sentence
        if not state.solved:
            if self._leaf is not None:
                kind, said = "leaf", ("leaf", (name, self._leaf))
            else:
                is_all = (len(label) % 2 == 0) == (self._sign > 0)
                kind = "all" if is_all or len(put) > 1 else "first"
                said = (kind, (name,))
        elif put[0].label == parent:
            if (len(parent) % 2 == 0) == (self._sign > 0):
                kind = "parent"
                if others:
                    self.count("cutoffs")
            else:
                kind = "last"
            said = (kind, (name,))
        else:
            kind, said = "next", ("next", (name,))
        self._leaf = None
        self.add_step("cut" if kind == "parent" and others else kind, node, said,
                 lines=[kind], changes_value=kind in ("leaf", "parent", "last"))  # fmt: skip

    def _finish(self, value: Value) -> None:
        self.splice_list("open", (0, len(self._open), []))
        self.set_fields(0, value=value, final=True)
        self.add_step("done", 0, ("solved", (value,)), changes_value=True)
        self._state = None


class BStarRecorder(Recorder):
    """B*: which node is expanded, and which bounds get closer by that."""

    def __init__(self, game: NotatedGame[Any], algorithm: AlgorithmSpec) -> None:
        super().__init__(game, algorithm)
        self._narrowed: list[Narrowed] = []
        self._evaluated = False

    def handle_event(self, event: Event) -> None:
        """Gather bounds that change together."""
        if self._narrowed and not isinstance(event, (Narrowed, Visited, Evaluated)):
            self._add_bounds_step()
        match event:
            case Visited():
                self.visit(event.label)
            case Evaluated():
                self.count("leaves")
                self._evaluated = True
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
        """Tell the bounds at the end."""
        if self._narrowed:
            self._add_bounds_step()
        self.add_step("done", 0, ("done", ()))

    def _add_bounds_step(self) -> None:
        said: list[Sentence] = []
        for each in self._narrowed:
            node = self.node_number(each.label)
            lower, upper = recorded_value(each.lower), recorded_value(each.upper)
            self.set_fields(node, lower=lower, upper=upper, seen=True)
            if abs(each.lower) < inf or abs(each.upper) < inf or len(self._narrowed) == 1:
                said.append(("bounds", (NodeName(node), lower, upper)))
        if not 0 < len(said) <= 4:
            said = [("closer", (len(self._narrowed),))]
        first = self.node_number(self._narrowed[0].label)
        lines = ["bounds", "evaluate"] if self._evaluated else ["bounds"]
        self._narrowed, self._evaluated = [], False
        self.add_step("bounds", first, *said, lines=lines, changes_value=True)
