"""Steps of the best-first algorithms: SSS* and DUAL* by their open list, B* by its bounds."""

from __future__ import annotations

from math import inf
from typing import Any

from agent.game import Written
from agent.search.configuration import Configuration
from agent.search.cursor import Label
from agent.search.observing import (
    Entered,
    Evaluated,
    Event,
    Listed,
    Narrowed,
    Returned,
    Visited,
)
from agent.search.sss_star import DualStar, State
from kempelen.lab.recorder import Recorder, told
from kempelen.lab.recording import NodeName, Row, Sentence, Value


class ListRecorder(Recorder):
    """SSS* and DUAL*: a step is what is done with the first state of the list."""

    def __init__(self, game: Written[Any], algorithm: Configuration) -> None:
        super().__init__(game, algorithm)
        self._sign = -1 if issubclass(algorithm.kind, DualStar) else 1
        self._state: State | None = None
        self._states: dict[Label, State] = {}
        self._leaf: Value = None
        self._order = 0

    def take(self, event: Event) -> None:
        """Take the list before a step, and what the step looks at."""
        match event:
            case Visited():
                self.count("nodes")
                self._order += 1
                self.set(self.node(event.label), seen=True, order=self._order)
            case Evaluated():
                self.count("leaves")
                self._leaf = told(event.value)
                self.set(self.node(event.label), leaf=True)
            case Listed():
                self._listed(event.states)
            case Returned():
                if self._state is not None and not event.label:
                    self._finish(told(event.value))
                self.set(self.node(event.label), value=told(event.value), final=True)

    def end(self) -> None:
        """Put the values that are left into the last step."""
        if self._changes or not self.steps:
            self.add("done", 0, ("done", ()))

    def _listed(self, states: tuple[State, ...]) -> None:
        if self._state is None:
            self._show(states)
            self.add("list", 0)
        else:
            self._step(self._state, states)
        self._state = states[0]

    def _step(self, state: State, states: tuple[State, ...]) -> None:
        """Tell what became of the first state, now that the list after it is there."""
        label, parent = state.label, state.label[:-1]
        node = self.node(label)
        name = NodeName(node)
        before = len(self._states)
        said: Sentence
        if not state.solved:
            if self._leaf is not None:
                kind, said = "leaf", ("leaf", (name, self._leaf))
            else:
                below = [each for each in states if each.label[:-1] == label and each.label]
                is_all = (len(label) % 2 == 0) == (self._sign > 0)
                kind = "all" if is_all or len(below) > 1 else "first"
                said = (kind, (name,))
        elif any(each.label == parent and each.solved for each in states):
            if (len(parent) % 2 == 0) == (self._sign > 0):
                kind = "parent"
                if before - 1 >= len(states):
                    self.count("cutoffs")
            else:
                kind = "last"
            said = (kind, (name,))
        else:
            kind, said = "next", ("next", (name,))
        self._leaf = None
        self._show(states)
        self.add("cut" if kind == "parent" and before > len(states) else kind, node, said,
                 lines=[kind], turns=kind in ("leaf", "parent", "last"))  # fmt: skip

    def _finish(self, value: Value) -> None:
        self.put("open", ())
        self.set(0, value=value, final=True)
        self.add("done", 0, ("solved", (value,)), turns=True)
        self._state = None

    def _show(self, states: tuple[State, ...]) -> None:
        rows: list[Row] = []
        for label, solved, bound in states:
            node = self.node(label)
            value = told(self._sign * bound)
            rows.append((node, (NodeName(node), "solved" if solved else "live", value)))
            known = self._states.get(label)
            if known is None or known != (label, solved, bound):
                self.set(node, seen=True, status="solved" if solved else "live", value=value)
        for label in self._states.keys() - {each.label for each in states}:
            self.set(self.node(label), status=None)
        self._states = {each.label: each for each in states}
        self.put("open", rows)


class BoundsRecorder(Recorder):
    """B*: which node is expanded, and which bounds get closer by that."""

    def __init__(self, game: Written[Any], algorithm: Configuration) -> None:
        super().__init__(game, algorithm)
        self._narrowed: list[Narrowed] = []
        self._order = 0

    def take(self, event: Event) -> None:
        """Gather bounds that change together."""
        if self._narrowed and not isinstance(event, (Narrowed, Visited, Evaluated)):
            self._narrow()
        match event:
            case Visited():
                self.count("nodes")
                self._order += 1
                self.set(self.node(event.label), seen=True, order=self._order)
            case Evaluated():
                self.count("leaves")
                self.set(self.node(event.label), leaf=True, value=told(event.value))
            case Narrowed():
                self._narrowed.append(event)
            case Entered():
                node = self.node(event.label)
                self.set(node, expanded=True)
                self.add("expand", node, ("expand", (NodeName(node),)))

    def end(self) -> None:
        """Tell the bounds at the end."""
        if self._narrowed:
            self._narrow()
        self.add("done", 0, ("done", ()))

    def _narrow(self) -> None:
        said: list[Sentence] = []
        for each in self._narrowed:
            node = self.node(each.label)
            lower, upper = told(each.lower), told(each.upper)
            self.set(node, lower=lower, upper=upper, seen=True)
            if abs(each.lower) < inf or abs(each.upper) < inf:
                said.append(("bounds", (NodeName(node), lower, upper)))
        if not 0 < len(said) <= 4:
            said = [("closer", (len(self._narrowed),))]
        first = self.node(self._narrowed[0].label)
        self._narrowed = []
        self.add("bounds", first, *said, turns=True)
