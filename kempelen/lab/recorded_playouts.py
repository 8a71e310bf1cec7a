"""Steps of Monte Carlo tree search: the four phases of each playout."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

from agent.game import Written
from agent.search.configuration import Configuration
from agent.search.cursor import Label
from agent.search.observing import Counted, Event, PlayedOut, Visited
from agent.search.observing_closely import BackedUp, Selected
from kempelen.lab.listings import by_evaluation
from kempelen.lab.recorder import Recorder, told
from kempelen.lab.recording import NodeName, Row, Sentence, Value


class PlayoutRecorder(Recorder):
    """Only nodes that a playout has come to are there; what was not tried is in a list."""

    def __init__(self, game: Written[Any], algorithm: Configuration) -> None:
        super().__init__(game, algorithm)
        self._before: list[Label] = []
        self._counted = False

    def record(self, events: Iterable[Event]) -> None:
        """Make steps of the events, beside the pseudo-code of what has chosen and judged."""
        events = list(events)
        self.listing = by_evaluation(
            self.listing,
            judged=any(isinstance(each, PlayedOut) and each.judged for each in events),
            priors=any(
                isinstance(each, Selected) and each.children[0].prior is not None for each in events
            ),
        )
        super().record(events)

    def take(self, event: Event) -> None:
        """Make steps of a playout."""
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
                node = self.node(event.label)
                self.set(node, visits=event.visits, mean=_short(event.mean))

    def end(self) -> None:
        """Say that it is over."""
        self.put("children", ())
        self.add("done", 0, ("done", ()))

    def _select(self, event: Selected) -> None:
        parent = self.node(event.label)
        self.set(parent, seen=True)
        for label in self._before:
            self.set(self.node(label), path=None)
        chosen = next(child for child in event.children if child.place == event.by)
        rows: list[Row] = []
        for child in event.children:
            label = (*event.label, child.place)
            known = child.visits > 0 or child is chosen
            node = self.node(label) if known else -1
            if known:
                self.set(node, bound=_short(child.bound))
            cell = NodeName(node) if known else self._move(event.label, child.place)
            cells = (cell, child.visits, _short(child.total), _short(child.bound))
            prior = () if child.prior is None else (_short(child.prior),)
            rows.append((node, (*cells, *prior)))
        self.put("children", rows)
        node = self.node((*event.label, event.by))
        ways = [event.label[:length] for length in range(len(event.label) + 1)]
        self._before = [*ways, (*event.label, event.by)]
        for label in self._before:
            self.set(self.node(label), path=True)
        names = NodeName(parent), NodeName(node)
        self.set(node, seen=True)
        if chosen.visits or chosen.bound < inf:
            self.add("select", node, ("select", (*names, _short(chosen.bound))))
        else:
            self.add("select", node, ("untried", names))

    def _play_out(self, event: PlayedOut) -> None:
        node = self.node(event.label)
        for length in range(len(event.label) + 1):
            self.set(self.node(event.label[:length]), seen=True)
        if event.expanded:
            self.add("expand", node, ("grow", (NodeName(node),)))
        self.count("leaves")
        self.set(node, reward=_short(event.reward), length=event.length)
        reward = _short(event.reward)
        said: Sentence = ("simulate", (NodeName(node), event.length, reward))
        if event.judged:
            said = ("judge", (NodeName(node), reward))
        self.add("simulate", node, said)

    def _back_up(self, event: BackedUp) -> None:
        node = self.node(event.label)
        for length, (visits, total) in enumerate(event.totals):
            mean = _short(total / visits) if visits else None
            way = self.node(event.label[:length])
            self.set(way, visits=visits, total=_short(total), mean=mean)
        self.set(node, reward=None, length=None)
        self.count("playouts")
        self.add("backup", node, ("backup", (len(event.totals),)), turns=True)

    def _move(self, label: Label, place: int) -> str:
        self._go(label)
        return self._game.text(self._moves()[place - 1])


def _short(value: float) -> Value:
    """Return a number as it is told, without what sums of fractions leave beside zero."""
    return told(round(value, 12), 3)
