from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any

from agent.game import NotatedGame
from agent.search.algorithm_spec import AlgorithmSpec
from agent.search.algorithms.mtd import MTD
from agent.search.tracing import (
    CutOff,
    Entered,
    Evaluated,
    Event,
    Guessed,
    Restarted,
    Returned,
    Stored,
    Visited,
)
from agent.search.tree_cursor import Label
from kempelen.lab.recordings.recorder import Recorder, is_null_window, recorded_value
from kempelen.lab.recordings.recording import NodeName, Row, Sentence


@dataclass
class _Call:
    """A call of the recursive method that has not returned: its window and its best value so far.

    `tried` holds the numbers of the moves that were searched.
    """

    entered: Entered
    window: tuple[float, float] | None
    best: float | None = None
    tried: set[int] = field(default_factory=set)


class RecursionRecorder(Recorder):
    """A recorder for recursive algorithms such as minimax and alpha-beta."""

    def __init__(self, game: NotatedGame[Any], algorithm: AlgorithmSpec) -> None:
        super().__init__(game, algorithm)
        self._memory: list[Row] = []
        self._keys: dict[object, Label] = {}
        # Whether best-node search has made its first guess.
        self._guessed = False
        # The bounds are None for other algorithms than MTD.
        self._passes = 0
        self._mtd_bounds = (-inf, inf) if issubclass(algorithm.search_class, MTD) else None
        # The last evaluated leaf, until it returns.
        self._evaluated: Label | None = None
        # The last node cut off, until it returns.
        self._cut_off: Label | None = None
        self._stack: list[_Call] = []

    def handle_event(self, event: Event) -> None:
        match event:
            case Visited():
                self.count("nodes")
                self._mark_seen(event.label)
            case Entered():
                self._enter(event)
            case Evaluated():
                self._evaluate(event)
            case CutOff():
                self._cut(event)
            case Stored():
                self._store(event)
            case Returned():
                self._return(event)
            case Guessed():
                self._stack.clear()
                self.set_list("stack", ())
                guess = recorded_value(event.guess)
                self.set_fields(self.node_number(()), seen=True, question=f"≥ {guess}")
                # The tests of the previous guess determined the remaining moves.
                lines = ["narrow", "guess"] if self._guessed else ["guess"]
                self._guessed = True
                self.add_step(
                    "guess", 0, ("guess", (guess, event.moves)), lines=lines, changes_value=True
                )
            case Restarted():
                self._stack.clear()
                self.set_list("stack", ())
                self._order = 0
                for node in range(len(self.nodes)):
                    self.set_fields(node, value=None, final=None, order=None, seen=None)
                self.set_fields(-1, nodes=None, leaves=None, cutoffs=None)
                self.add_step("anew", 0, ("anew", (recorded_value(event.win),)), changes_value=True)

    def finish(self) -> None:
        if self.steps or self._changes:
            lines = ["narrow"] if self._guessed else ["return", "done"]
            self.add_step("done", 0, ("done", ()), lines=lines)

    def _mark_seen(self, label: Label) -> None:
        node = self.node_number(label)
        if not self.get_field(node, "seen"):
            self.mark_seen(node)

    def _enter(self, event: Entered) -> None:
        node = self.node_number(event.label)
        if self._stack and event.label:
            self._stack[-1].tried.add(event.label[-1])
        self._stack.append(_Call(event, event.window))
        name, mover = NodeName(node), self.mover(event.label)
        lines = ["enter"]
        question = None
        prefix: list[Sentence] = []
        self.set_fields(node, value=None, final=None)
        if event.test is not None:
            sign, bound = event.test
            question = f"{sign} {recorded_value(bound)}"
            sentence: Sentence = ("test", (mover, name, sign, recorded_value(bound)))
            lines = ["test"]
        elif event.window is not None:
            alpha, beta = map(recorded_value, event.window)
            key = "again-window" if event.again else "enter-window"
            if is_null_window(event.window):
                key, lines = "null-window", ["enter", "test"]
            elif event.again:
                lines = ["enter", "again"]
            sentence = (key, (mover, name, alpha, beta))
            if self._mtd_bounds is not None and not event.label:
                self._passes += 1
                prefix.append(("new-pass", (self._passes, beta)))
                lines.append("pass")
            self.set_fields(node, alpha=alpha, beta=beta)
        else:
            sentence = ("again-plain" if event.again else "enter-plain", (mover, name))
            lines += ["again"] if event.again else []
        if event.again:
            self.count("researches")
        if event.label and event.label[-1] == 0:
            lines = ["pass"]
        self.set_fields(node, seen=True, question=question)
        self._show_stack()
        self.add_step("enter", node, *prefix, sentence, lines=lines)

    def _evaluate(self, event: Evaluated) -> None:
        self._mark_seen(event.label)
        self.count("leaves")
        self._evaluated = event.label
        node = self.node_number(event.label)
        value = recorded_value(event.value)
        self.set_fields(node, value=value, leaf=True)
        self.add_step("evaluate", node, ("evaluate", (NodeName(node), value)))

    def _cut(self, event: CutOff) -> None:
        node = self.node_number(event.label)
        call = self._stack[-1]
        n_skipped = max(0, self.move_count(event.label) - len(call.tried - {0}))
        self.count("cutoffs")
        self._cut_off = event.label
        self.set_fields(node, cut=n_skipped, by=event.by)
        by = self.node_name((*event.label, event.by))
        sentences: list[Sentence] = [("cut", (NodeName(node), by, n_skipped))]
        if n_skipped < 2:
            sentences = [("cut-one" if n_skipped else "cut-last", (NodeName(node), by))]
        if call.window is not None and call.window[0] >= call.window[1] and event.by:
            sentences.append(("cut-why", tuple(map(recorded_value, call.window))))
        self.add_step("cut", node, *sentences)

    def _store(self, event: Stored) -> None:
        node = self.node_number(event.label)
        lower, upper = recorded_value(event.lower), recorded_value(event.upper)
        bounds_text = str(lower) if lower == upper else f"[{lower}, {upper}]"
        row: Row = (node, (NodeName(node), event.depth, bounds_text))
        if event.row == len(self._memory):
            self._memory.append(row)
            self.splice_list("memory", (event.row, 0, [row]))
        else:
            # Each row is one position, named after the node where it first occurred.
            first, cells = self._memory[event.row]
            row = self._memory[event.row] = first, (cells[0], *row[1][1:])
            self.splice_list("memory", (event.row, 1, [row]))
        self._keys.setdefault(self.key_at(event.label), event.label)
        self.add_step("store", node, ("store", (NodeName(node), bounds_text)))

    def _return(self, event: Returned) -> None:
        node = self.node_number(event.label)
        entered = self._stack.pop().entered
        value = self._value_text(event, entered)
        sentences: list[Sentence] = []
        lines = ["return"]
        if self._cut_off == event.label and "gives" in self._step_lines:
            lines = ["gives"]
        elif isinstance(event.value, bool) and "answer" in self._step_lines:
            lines = ["answer"]
        self._cut_off = None
        if event.remembered:
            self.count("hits")
            self.set_fields(node, remembered=True, seen=True)
            sentences.append(("remember", (NodeName(node), value)))
            first = self._keys.get(self.key_at(event.label))
            if first is not None and first != event.label:
                self.set_fields(node, shared=self.node_number(first))
                sentences.append(("shared", (self.node_name(first),)))
            lines = ["remember"]
        elif isinstance(event.value, bool):
            sentences.append(("yes" if event.value else "no", (NodeName(node),)))
        else:
            sentences.append(("return", (NodeName(node), value)))
        if not event.remembered and self._evaluated == event.label:
            lines = ["evaluate"]
        self.set_fields(node, value=value, final=True)
        better = self._update_parent(event)
        self._show_stack()
        inner = self._evaluated != event.label
        self._evaluated = None
        lines += ["better"] if better else []
        if self._mtd_bounds is not None and not event.label:
            sentences.append(self._update_mtd_bounds(event.value, entered))
            lines.append("passed")
        self.add_step(
            "return", node, *sentences, *better, lines=lines, changes_value=inner or bool(better)
        )

    def _update_mtd_bounds(self, value: float, entered: Entered) -> Sentence:
        assert self._mtd_bounds is not None
        assert entered.window is not None
        lower, upper = self._mtd_bounds
        self._mtd_bounds = (lower, value) if value < entered.window[1] else (value, upper)
        return "bounds", (self.node_name(()), *map(recorded_value, self._mtd_bounds))

    def _update_parent(self, event: Returned) -> list[Sentence]:
        if not self._stack or not event.label or event.label[-1] == 0:
            return []
        call = self._stack[-1]
        entered = call.entered
        if entered.test is not None or isinstance(event.value, bool):
            return []
        parent = self.node_number(entered.label)
        exact: float = event.value
        if self.nodes[parent].kind == "chance":
            probability = self.nodes[self.node_number(event.label)].chance or 0.0
            call.best = (call.best or 0.0) + probability * float(exact)
            self.set_fields(parent, value=recorded_value(call.best))
            return [("sum", (NodeName(parent), recorded_value(call.best)))]
        best = call.best
        if best is not None and (exact <= best if entered.maximises else exact >= best):
            return []
        call.best = exact
        self.set_fields(parent, value=recorded_value(exact))
        sentences: list[Sentence] = [("best", (NodeName(parent), recorded_value(exact)))]
        if call.window is not None:
            alpha, beta = call.window
            if entered.maximises and exact > alpha:
                call.window = exact, beta
                self.set_fields(parent, alpha=recorded_value(exact))
                sentences.append(("alpha", (NodeName(parent), recorded_value(exact))))
            if not entered.maximises and exact < beta:
                call.window = alpha, exact
                self.set_fields(parent, beta=recorded_value(exact))
                sentences.append(("beta", (NodeName(parent), recorded_value(exact))))
        return sentences

    def _value_text(self, event: Returned, entered: Entered) -> str:
        relation, value = "", event.value
        if entered.test or self._evaluated != event.label:
            relation, value = entered.meaning(value)
        return f"{relation}{recorded_value(float(value) if isinstance(value, bool) else value)}"

    def _show_stack(self) -> None:
        rows: list[Row] = []
        for call in self._stack:
            node = self.node_number(call.entered.label)
            window = ""
            if call.window is not None:
                window = f"({', '.join(str(recorded_value(bound)) for bound in call.window)})"
            elif call.entered.test is not None:
                window = f"{call.entered.test[0]} {recorded_value(call.entered.test[1])}"
            rows.append((node, (NodeName(node), window)))
        self.set_list("stack", rows)
