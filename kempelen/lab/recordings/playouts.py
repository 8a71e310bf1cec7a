from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from agent.game import NotatedGame
from agent.games.tree import Tree
from agent.search.algorithm_spec import AlgorithmSpec
from agent.search.algorithms.mcts import UCTOptions
from agent.search.tracing import (
    BackedUp,
    ChildStats,
    Counted,
    Drawn,
    Event,
    PlayedOut,
    Selected,
    Visited,
)
from agent.search.tree_cursor import Label
from kempelen.lab.language import format_label
from kempelen.lab.pseudocode import playout_pseudocode
from kempelen.lab.recordings.recorder import Ending, Recorder, recorded_value
from kempelen.lab.recordings.recording import MoveName, NodeName, Row, Sentence, Value


class PlayoutRecorder(Recorder):
    """A recorder for the phases of each playout in Monte Carlo tree search.

    Untried moves appear in the list of children, but not in the tree.
    """

    def __init__(self, game: NotatedGame[Any], algorithm: AlgorithmSpec) -> None:
        super().__init__(game, algorithm)
        self._final = algorithm.options.get("final", UCTOptions().final)
        self._last_path: list[Label] = []
        # A selection that becomes a step with the next event, unless a new node was selected.
        self._selected: Selected | None = None
        # The random events after it.
        self._drawn: list[Drawn] = []
        # The last statistics of the children of the root.
        self._root_children: tuple[ChildStats, ...] = ()

    def record(self, events: Sequence[Event], ending: Ending | None = None) -> None:
        playouts = [event for event in events if isinstance(event, PlayedOut)]
        self.listing = playout_pseudocode(
            self.listing,
            judged=any(each.judged for each in playouts),
            cut_short=any(each.cut for each in playouts),
            priors=any(
                isinstance(each, Selected) and each.children[0].prior is not None for each in events
            ),
            final=self._final,
        )
        super().record(events, ending)

    def handle_event(self, event: Event) -> None:
        match event:
            case Visited():
                self.count("nodes")
            case Selected():
                self._select_pending()
                self._selected = event
            case Drawn():
                self._drawn.append(event)
            case PlayedOut():
                self._play_out(event)
            case BackedUp():
                self._back_up(event)
            case Counted():
                node = self.node_number(event.label)
                self.set_fields(node, visits=event.visits, mean=_rounded_value(event.mean))

    def finish(self) -> None:
        self._select_pending()
        self._show_children((), self._root_children)
        self.add_step("done", 0, self.end_sentence(), *self._tie_sentences())

    def end_sentence(self) -> Sentence:
        label = self.ending.chosen
        if label is None:
            return super().end_sentence()
        name = self.node_name(label)
        chosen = next(child for child in self._root_children if child.place == label[0])
        if self.ending.is_proven:
            return "ends-proven", (name,)
        if any(self._merit(each) > self._merit(chosen) for each in self._root_children):
            return "ends-kept", (name,)  # moves that are proven to lose rank last
        value = chosen.visits if self._final == "visits" else _rounded_value(self._merit(chosen))
        return f"ends-{self._final}", (name, value)

    def _merit(self, child: ChildStats) -> float:
        """Return the number by which the final move is chosen."""
        if self._final == "visits":
            return child.visits
        if not child.visits:
            return -inf
        return child.bound if self._final == "ucb" else child.total / child.visits

    def _tie_sentences(self) -> list[Sentence]:
        """Tell what decides among equally many visits."""
        label = self.ending.chosen
        if label is None or self.ending.is_proven or self._final != "visits":
            return []
        chosen = next(child for child in self._root_children if child.place == label[0])
        tied = [each for each in self._root_children if each.visits == chosen.visits]
        if len(tied) == 1 or any(each.total > chosen.total for each in tied):
            return []
        return [("ends-tied", ())]

    def _select_pending(self) -> None:
        event, self._selected = self._selected, None
        if event is not None:
            chosen = self._descend(event)
            parent, node = self.node_name(event.label), self.node_name((*event.label, event.by))
            if chosen.visits or chosen.bound < inf:
                sentence: Sentence = ("select", (parent, node, _rounded_value(chosen.bound)))
            else:
                sentence = ("untried", (parent, node))
            self.add_step("select", node.node, sentence)
        drawn, self._drawn = self._drawn, []
        for each in drawn:
            label = (*each.label, each.by)
            self._show_path(label)
            parent, node = self.node_name(each.label), self.node_name(label)
            self.add_step("select", node.node, ("drawn", (parent, node)))

    def _descend(self, event: Selected) -> ChildStats:
        """Show the children of a node, and the path to the chosen child."""
        self._show_path((*event.label, event.by))
        self._show_children(event.label, event.children)
        return next(child for child in event.children if child.place == event.by)

    def _show_path(self, label: Label) -> None:
        previous = self._last_path
        self._last_path = [label[:length] for length in range(len(label) + 1)]
        for each in previous:
            if each not in self._last_path:
                self.set_fields(self.node_number(each), path=None)
        for each in self._last_path:
            self.set_fields(self.node_number(each), path=True, seen=True)

    def _show_children(self, parent: Label, children: Sequence[ChildStats]) -> None:
        """Fill the table of children."""
        rows: list[Row] = []
        for child in children:
            label = (*parent, child.place)
            known = label in self.numbers
            node = self.node_number(label) if known else -1
            name = NodeName(node) if known else MoveName(format_label(label), self._move(label))
            cells = (name, child.visits, _rounded_value(child.total), _rounded_value(child.bound))
            prior = () if child.prior is None else (_rounded_value(child.prior),)
            rows.append((node, (*cells, *prior)))
        self.set_list("children", rows)

    def _play_out(self, event: PlayedOut) -> None:
        node = self.node_number(event.label)
        if event.expanded and not event.judged and self._selected is not None:
            # The search adds the children of a leaf, and then selects one of them.
            selected, self._selected = self._selected, None
            self._descend(selected)
            child = self.node_name((*selected.label, selected.by))
            self.add_step("expand", child.node, ("grow", (self.node_name(selected.label), child)))
        self._select_pending()
        for length in range(len(event.label) + 1):
            self.set_fields(self.node_number(event.label[:length]), seen=True)
        if event.expanded and event.judged:
            self.add_step("expand", node, ("grow-leaf", (NodeName(node),)))
        self.count("leaves")
        reward = _rounded_value(event.reward)
        self.set_fields(node, reward=reward, length=event.length)
        key = "cut-short" if event.cut else "simulate"
        key += {0: "-none", 1: "-one"}.get(event.length, "")
        sentence: Sentence = (key, (NodeName(node), event.length, reward))
        if event.judged:
            sentence = ("judge", (NodeName(node), reward))
        self.add_step("simulate", node, sentence)

    def _back_up(self, event: BackedUp) -> None:
        node = self.node_number(event.label)
        for length, (visits, total) in enumerate(event.totals):
            # Nobody moved to the root: its rewards are shown for MAX.
            shown = total if length else -total
            mean = _rounded_value(shown / visits) if visits else None
            ancestor = self.node_number(event.label[:length])
            self.set_fields(ancestor, visits=visits, total=_rounded_value(shown), mean=mean)
        for length, children in enumerate(event.children):
            for child in children:
                if child.visits:
                    label = (*event.label[:length], child.place)
                    self.set_fields(self.node_number(label), bound=_rounded_value(child.bound))
        expanded = [length for length, children in enumerate(event.children) if children]
        if expanded:
            self._show_children(event.label[: expanded[-1]], event.children[expanded[-1]])
            self._root_children = event.children[0]
        self.set_fields(node, reward=None, length=None)
        self.count("playouts")
        key = "backup" if len(event.totals) > 1 else "backup-one"
        self.add_step("backup", node, (key, (len(event.totals),)), changes_value=True)

    def _move(self, label: Label) -> str:
        if isinstance(self._game, Tree):
            return ""
        self._go_to(label[:-1])
        return self._game.text(self._moves()[label[-1] - 1])


def _rounded_value(value: float) -> Value:
    return recorded_value(round(value, 12), 3)
