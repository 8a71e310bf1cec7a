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

    `calls` names the steps of the line of pseudocode from which the method was called. `tried`
    holds the numbers of the moves that were searched.
    """

    entered: Entered
    window: tuple[float, float] | None
    calls: list[str]
    best: float | None = None
    tried: set[int] = field(default_factory=set)


class RecursionRecorder(Recorder):
    """A recorder for recursive algorithms such as minimax and alpha-beta."""

    def __init__(self, game: NotatedGame[Any], algorithm: AlgorithmSpec) -> None:
        super().__init__(game, algorithm)
        # Whether the algorithm keeps the best value apart from the window, and narrows the window.
        self._keeps_best = any("best" in line for line in self.listing)
        self._narrows = any("α ← max" in line for line in self.listing)
        self._has_null_windows = bool({"test", "try", "search", "pass"} & self.step_lines.keys())
        self._remark = algorithm.lacks_null_moves(game)
        self._memory: list[Row] = []
        self._keys: dict[object, Label] = {}
        # Whether best-node search has made its first guess.
        self._guessed = False
        # The bounds are None for other algorithms than MTD.
        self._passes = 0
        self._mtd_bounds = (-inf, inf) if issubclass(algorithm.search_class, MTD) else None
        # The last evaluated leaf, until it returns.
        self._evaluated: Label | None = None
        # The last node cut off, until it returns, and the steps of the line that cut it off.
        self._cut_off: Label | None = None
        self._cut_lines: list[str] = []
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
            lines = ["narrow", "done"] if self._guessed else ["return", "done"]
            self.add_step("done", 0, self.end_sentence(), lines=lines)

    def _mark_seen(self, label: Label) -> None:
        node = self.node_number(label)
        if not self.get_field(node, "seen"):
            self.mark_seen(node)

    def _enter(self, event: Entered) -> None:
        node = self.node_number(event.label)
        calls = self._calling_lines(event)
        if self._stack and event.label:
            self._stack[-1].tried.add(event.label[-1])
        self._stack.append(_Call(event, event.window, calls))
        name, mover = NodeName(node), self.mover(event.label)
        lines = [self._in_test("enter", event), *calls]
        question = None
        prefix: list[Sentence] = []
        if self._remark:
            prefix.append(("no-pass", ()))
            self._remark = False
        if event.label and event.label[-1] == 0:
            prefix.append(("pass", (self.node_name(event.label[:-1]),)))
        self.set_fields(node, value=None, final=None)
        if event.test is not None:
            sign, bound = event.test
            question = f"{sign} {recorded_value(bound)}"
            sentence: Sentence = ("test", (mover, name, sign, recorded_value(bound)))
        elif event.window is not None:
            alpha, beta = map(recorded_value, event.window)
            key = "again-window" if event.again else "enter-window"
            if self._has_null_windows and is_null_window(event.window):
                key = (
                    "again-window" if event.again and "again" in self.step_lines else "null-window"
                )
            sentence = (key, (mover, name, alpha, beta))
            if self._mtd_bounds is not None and not event.label:
                self._passes += 1
                prefix.append(("new-pass", (self._passes, beta)))
            self.set_fields(node, alpha=alpha, beta=beta)
        else:
            sentence = ("again-plain" if event.again else "enter-plain", (mover, name))
        if event.again:
            self.count("researches")
        self.set_fields(node, seen=True, question=question)
        self._show_stack()
        self.add_step("enter", node, *prefix, sentence, lines=lines)

    def _calling_lines(self, event: Entered) -> list[str]:
        """Return the steps of the line of pseudocode that calls the method for this node.

        Only algorithms with several such lines distinguish them when a node is entered.
        """
        label = event.label
        if not label:
            return [] if self._mtd_bounds is None else ["guess", "search"]
        if not self._stack:  # best-node search tests a move
            return ["try"]
        parent = self._stack[-1]
        if label[-1] == 0:
            return ["pass"]
        if parent.entered.test is not None:
            kind = "ask"
        elif event.again:
            kind = "again"
        else:
            kind = "first" if not parent.tried - {0} else "test"
        return self.step_keys(label[:-1], kind)

    @staticmethod
    def _in_test(step: str, entered: Entered) -> str:
        """Return the name of a step in SCOUT's TEST, which has its own lines of pseudocode."""
        names = {"enter": "enter-test", "evaluate": "compare", "leaves": "answers"}
        return step if entered.test is None else names[step]

    def _evaluate(self, event: Evaluated) -> None:
        self._mark_seen(event.label)
        self.count("leaves")
        if self._goes_on(event):
            self._stand_pat(event)
            return
        self._evaluated = event.label
        node = self.node_number(event.label)
        value = recorded_value(event.value)
        self.set_fields(node, value=value, leaf=True)
        lines = [self._in_test("evaluate", self._stack[-1].entered)] if self._stack else []
        self.add_step("evaluate", node, ("evaluate", (NodeName(node), value)), lines=lines)

    def _goes_on(self, event: Evaluated) -> bool:
        """Return whether quiescence search tries moves at the evaluated node."""
        following = self.following
        return isinstance(following, Entered) and following.label[:-1] == event.label

    def _stand_pat(self, event: Evaluated) -> None:
        node, call = self.node_number(event.label), self._stack[-1]
        call.best = event.value
        if call.window is not None:
            alpha, beta = call.window
            if event.maximises:
                call.window = max(alpha, event.value), beta
            else:
                call.window = alpha, min(beta, event.value)
            low, high = map(recorded_value, call.window)
            self.set_fields(node, alpha=low, beta=high)
        value = recorded_value(event.value)
        self.set_fields(node, value=value)
        self._show_stack()
        self.add_step("stand", node, ("stand", (NodeName(node), value)), changes_value=True)

    def _cut(self, event: CutOff) -> None:
        node = self.node_number(event.label)
        call = self._stack[-1]
        n_skipped = max(0, self.move_count(event.label) - len(call.tried - {0}))
        self.count("cutoffs")
        self._cut_off = event.label
        self.set_fields(node, cut=n_skipped or None, by=event.by)
        if event.by:
            by = self.node_name((*event.label, event.by))
            sentences: list[Sentence] = [("cut", (NodeName(node), by, n_skipped))]
            if n_skipped < 2:
                sentences = [("cut-one" if n_skipped else "cut-last", (NodeName(node), by))]
            sentences += self._cut_reason(call)
        else:
            sentences = [("cut-pass", (NodeName(node),))]
        step = "cut" if event.by else "cut-pass"
        step = step if call.entered.test is None else "ask"
        self._cut_lines = self.step_keys(event.label, step)
        self.add_step("cut", node, *sentences, lines=self._cut_lines)

    def _cut_reason(self, call: _Call) -> list[Sentence]:
        if call.window is None or call.best is None:
            return []
        alpha, beta = call.window
        if self._narrows:
            why = ("cut-why", (recorded_value(alpha), recorded_value(beta)))
            return [why] if alpha >= beta else []
        if call.entered.maximises:
            return [("cut-high", (recorded_value(call.best), recorded_value(beta)))]
        return [("cut-low", (recorded_value(call.best), recorded_value(alpha)))]

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
        call = self._stack.pop()
        entered = call.entered
        value = self._value_text(event, entered)
        sentences: list[Sentence] = []
        is_leaf = self._evaluated == event.label
        if event.remembered:
            self.count("hits")
            self.set_fields(node, remembered=True, seen=True)
            sentences.append(("remember", (NodeName(node), value)))
            first = self._keys.get(self.key_at(event.label))
            if first is not None and first != event.label:
                self.set_fields(node, shared=self.node_number(first))
                sentences.append(("shared", (self.node_name(first),)))
            lines = ["remember"]
        else:
            if isinstance(event.value, bool):
                sentences.append(("yes" if event.value else "no", (NodeName(node),)))
            else:
                sentences.append(("return", (NodeName(node), value)))
            lines = self._returning_lines(event, entered, is_leaf)
        self._cut_off = self._evaluated = None
        self.set_fields(node, value=value, final=True)
        better = self._update_parent(event)
        self._show_stack()
        lines = [*lines, *self._receiving_lines(event, call)]
        if self._mtd_bounds is not None and not event.label:
            sentences.append(self._update_mtd_bounds(event.value, entered))
        self.add_step(
            "return", node, *sentences, *better, lines=lines,
            changes_value=not is_leaf or bool(better),
        )  # fmt: skip

    def _returning_lines(self, event: Returned, entered: Entered, is_leaf: bool) -> list[str]:
        if is_leaf:
            return [self._in_test("leaves", entered)]
        if self._cut_off == event.label and (entered.test or "gives" in self.step_lines):
            return self._cut_lines
        return ["return" if entered.test is None else "none"]

    def _receiving_lines(self, event: Returned, call: _Call) -> list[str]:
        """Return the steps of the lines of pseudocode where the caller takes the value."""
        if not event.label:
            return [] if self._mtd_bounds is None else ["search", "passed"]
        if event.label[-1] == 0 or not self._stack or self._is_searched_again(event):
            return call.calls
        return [*call.calls, *self.step_keys(event.label[:-1], "better")]

    def _is_searched_again(self, event: Returned) -> bool:
        following = self.following
        return isinstance(following, Entered) and following.again and following.label == event.label

    def _update_mtd_bounds(self, value: float, entered: Entered) -> Sentence:
        assert self._mtd_bounds is not None
        assert entered.window is not None
        lower, upper = self._mtd_bounds
        self._mtd_bounds = (lower, value) if value < entered.window[1] else (value, upper)
        return "bounds", (self.node_name(()), *map(recorded_value, self._mtd_bounds))

    def _update_parent(self, event: Returned) -> list[Sentence]:
        if not self._stack or not event.label or event.label[-1] == 0:
            return []
        parent_call = self._stack[-1]
        entered = parent_call.entered
        if entered.test is not None or isinstance(event.value, bool):
            return []
        if self._is_searched_again(event):
            return []
        parent = self.node_number(entered.label)
        exact: float = event.value
        if self.nodes[parent].kind == "chance":
            probability = self.nodes[self.node_number(event.label)].chance or 0.0
            parent_call.best = (parent_call.best or 0.0) + probability * float(exact)
            self.set_fields(parent, value=recorded_value(parent_call.best))
            return [("sum", (NodeName(parent), recorded_value(parent_call.best)))]
        sentences: list[Sentence] = []
        best = parent_call.best
        if best is None or (exact > best if entered.maximises else exact < best):
            parent_call.best = exact
            if self._keeps_best:
                self.set_fields(parent, value=recorded_value(exact))
                sentences.append(("best", (NodeName(parent), recorded_value(exact))))
        if parent_call.window is not None and self._narrows:
            alpha, beta = parent_call.window
            raised = max(alpha, exact), beta
            if not entered.maximises:
                raised = alpha, min(beta, exact)
            if raised != parent_call.window:
                parent_call.window = raised
                key = "alpha" if entered.maximises else "beta"
                self.set_fields(parent, **{key: recorded_value(exact)})
                if not self._keeps_best:
                    self.set_fields(parent, value=recorded_value(exact))
                sentences.append((key, (NodeName(parent), recorded_value(exact))))
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
