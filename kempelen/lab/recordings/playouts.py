from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

from agent.game import NotatedGame
from agent.search.algorithm_spec import AlgorithmSpec
from agent.search.tracing import BackedUp, Counted, Event, PlayedOut, Selected, Visited
from agent.search.tree_cursor import Label
from kempelen.lab.pseudocode import with_evaluation
from kempelen.lab.recordings.recorder import Recorder, recorded_value
from kempelen.lab.recordings.recording import NodeName, Row, Sentence, Value


class PlayoutRecorder(Recorder):
    """A recorder for the phases of each playout in Monte Carlo tree search.

    Untried moves appear in the list of children, but not in the tree.
    """

    def __init__(self, game: NotatedGame[Any], algorithm: AlgorithmSpec) -> None:
        super().__init__(game, algorithm)
        self._last_path: list[Label] = []
        self._counted = False

    def record(self, events: Iterable[Event]) -> None:
        events = list(events)
        self.listing = with_evaluation(
            self.listing,
            judged=any(isinstance(each, PlayedOut) and each.judged for each in events),
            priors=any(
                isinstance(each, Selected) and each.children[0].prior is not None for each in events
            ),
        )
        super().record(events)

    def handle_event(self, event: Event) -> None:
        match event:
            case Visited():
                self.count("nodes")
            case Selected():
                self._select(event)
            case PlayedOut():
                self._play_out(event)
            case BackedUp():
                self._back_up(event)
            case Counted():
                self._counted = True
                node = self.node_number(event.label)
                self.set_fields(node, visits=event.visits, mean=_rounded_value(event.mean))

    def finish(self) -> None:
        self.set_list("children", ())
        self.add_step("done", 0, ("done", ()))

    def _select(self, event: Selected) -> None:
        parent = self.node_number(event.label)
        self.set_fields(parent, seen=True)
        for label in self._last_path:
            self.set_fields(self.node_number(label), path=None)
        chosen = next(child for child in event.children if child.place == event.by)
        rows: list[Row] = []
        for child in event.children:
            label = (*event.label, child.place)
            known = child.visits > 0 or child is chosen
            node = self.node_number(label) if known else -1
            if known:
                self.set_fields(node, bound=_rounded_value(child.bound))
            cell = NodeName(node) if known else self._move(event.label, child.place)
            cells = (cell, child.visits, _rounded_value(child.total), _rounded_value(child.bound))
            prior = () if child.prior is None else (_rounded_value(child.prior),)
            rows.append((node, (*cells, *prior)))
        self.set_list("children", rows)
        node = self.node_number((*event.label, event.by))
        ancestors = [event.label[:length] for length in range(len(event.label) + 1)]
        self._last_path = [*ancestors, (*event.label, event.by)]
        for label in self._last_path:
            self.set_fields(self.node_number(label), path=True)
        names = NodeName(parent), NodeName(node)
        self.set_fields(node, seen=True)
        if chosen.visits or chosen.bound < inf:
            self.add_step("select", node, ("select", (*names, _rounded_value(chosen.bound))))
        else:
            self.add_step("select", node, ("untried", names))

    def _play_out(self, event: PlayedOut) -> None:
        node = self.node_number(event.label)
        for length in range(len(event.label) + 1):
            self.set_fields(self.node_number(event.label[:length]), seen=True)
        if event.expanded:
            self.add_step("expand", node, ("grow", (NodeName(node),)))
        self.count("leaves")
        self.set_fields(node, reward=_rounded_value(event.reward), length=event.length)
        reward = _rounded_value(event.reward)
        sentence: Sentence = ("simulate", (NodeName(node), event.length, reward))
        if event.judged:
            sentence = ("judge", (NodeName(node), reward))
        self.add_step("simulate", node, sentence)

    def _back_up(self, event: BackedUp) -> None:
        node = self.node_number(event.label)
        for length, (visits, total) in enumerate(event.totals):
            mean = _rounded_value(total / visits) if visits else None
            ancestor = self.node_number(event.label[:length])
            self.set_fields(ancestor, visits=visits, total=_rounded_value(total), mean=mean)
        self.set_fields(node, reward=None, length=None)
        self.count("playouts")
        self.add_step("backup", node, ("backup", (len(event.totals),)), changes_value=True)

    def _move(self, label: Label, place: int) -> str:
        self._go_to(label)
        return self._game.text(self._moves()[place - 1])


def _rounded_value(value: float) -> Value:
    return recorded_value(round(value, 12), 3)
