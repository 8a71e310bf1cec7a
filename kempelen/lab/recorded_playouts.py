"""Steps of Monte Carlo tree search: the four phases of each playout."""

from __future__ import annotations

from math import inf
from typing import Any

from agent.game import Written
from agent.search.configuration import Configuration
from agent.search.cursor import Label
from agent.search.observing import Counted, Event, PlayedOut, Visited
from agent.search.observing_closely import BackedUp, Selected
from kempelen.lab.recorder import Recorder, told
from kempelen.lab.recording import NodeName, Row


class PlayoutRecorder(Recorder):
    """Only nodes that a playout has come to are there; what was not tried is in a list."""

    def __init__(self, game: Written[Any], algorithm: Configuration) -> None:
        super().__init__(game, algorithm)
        self._before: list[Label] = []
        self._counted = False

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
                self.set(node, visits=event.visits, mean=told(event.mean, 3))

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
                self.set(node, bound=told(child.bound, 3))
            cell = NodeName(node) if known else self._move(event.label, child.place)
            cells = (cell, child.visits, told(child.total, 3), told(child.bound, 3))
            rows.append((node, cells))
        self.put("children", rows)
        node = self.node((*event.label, event.by))
        ways = [event.label[:length] for length in range(len(event.label) + 1)]
        self._before = [*ways, (*event.label, event.by)]
        for label in self._before:
            self.set(self.node(label), path=True)
        names = NodeName(parent), NodeName(node)
        self.set(node, seen=True)
        if chosen.visits or chosen.bound < inf:
            self.add("select", node, ("select", (*names, told(chosen.bound, 3))))
        else:
            self.add("select", node, ("untried", names))

    def _play_out(self, event: PlayedOut) -> None:
        node = self.node(event.label)
        for length in range(len(event.label) + 1):
            self.set(self.node(event.label[:length]), seen=True)
        if event.expanded:
            self.add("expand", node, ("grow", (NodeName(node),)))
        self.count("leaves")
        self.set(node, reward=told(event.reward, 3), length=event.length)
        reward = told(event.reward, 3)
        self.add("simulate", node, ("simulate", (NodeName(node), event.length, reward)))

    def _back_up(self, event: BackedUp) -> None:
        node = self.node(event.label)
        for length, (visits, total) in enumerate(event.totals):
            mean = told(total / visits, 3) if visits else None
            way = self.node(event.label[:length])
            self.set(way, visits=visits, total=told(total, 3), mean=mean)
        self.set(node, reward=None, length=None)
        self.count("playouts")
        self.add("backup", node, ("backup", (len(event.totals),)), turns=True)

    def _move(self, label: Label, place: int) -> str:
        self._go(label)
        return self._game.text(self._moves()[place - 1])
