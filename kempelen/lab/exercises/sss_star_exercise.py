from __future__ import annotations

from random import Random

from agent.games.tree import Node
from agent.search.algorithms.sss_star import State, write_state
from agent.search.tracing import Listed
from kempelen.lab import trace
from kempelen.lab.exercises.exercise import (
    Exercise,
    ExerciseSpec,
    child_numbers,
    random_tree,
    search_events,
)
from kempelen.lab.exercises.marking import format_number
from kempelen.lab.language import Translator, format_label, format_value

# Number of rows shown before the requested row.
ROWS = 3


class NextRow(Exercise):
    """An exercise that asks for the open list of SSS* after the next step."""

    form, ordered, example = "states", True, "(2.1, V, 15), (1, S, 7)"

    @property
    def row(self) -> int:
        """The number of the requested row of the open list, from 1."""
        return sum(isinstance(event, Listed) for event in self.events)

    def title(self, translate: Translator) -> str:
        return translate("The list of SSS*")

    def question(self, translate: Translator) -> list[str]:
        rows = list(trace.open_list_rows(self.events, translate))[:-1]
        text = translate("What is row {} of SSS*'s open list? V is a live state, S a solved one.")
        order = translate("States with equal bounds are ordered from left to right in the tree.")
        return [*rows[-ROWS:], f"{text.format(self.row)} {order}"]

    def explanation(self, translate: Translator) -> list[str]:
        before, after = [event for event in self.events if isinstance(event, Listed)][-2:]
        first = before.states[0]
        new = [state for state in after.states if state not in before.states]
        removed = [state for state in before.states[1:] if state not in after.states]
        text = _rule(self.root, first, translate).format(
            _format_state(first), ", ".join(map(_format_state, new))
        )
        lines = [text]
        if removed:
            lines.append(
                f"{translate('Removed from the list')}: {', '.join(map(_format_state, removed))}"
            )
        return [*lines, *list(trace.open_list_rows(self.events, translate))[-1:]]

    @staticmethod
    def generate(spec: ExerciseSpec, random: Random) -> Exercise | None:
        root = random_tree(random, spec)
        events = search_events(root, "sss-star")
        lists = [event for event in events if isinstance(event, Listed)]
        row = random.randint(3, len(lists))
        states = lists[row - 1].states
        key = tuple(
            f"({format_label(state.label)}, {'S' if state.solved else 'V'}, "
            f"{format_number(state.bound)})"
            for state in states
        )
        return NextRow(spec, root, tuple(lists[:row]), key)


def _format_state(state: State) -> str:
    return write_state(state, format_value)


def _rule(root: Node, first: State, translate: Translator) -> str:
    label = first.label
    children = child_numbers(root, label)
    if not first.solved:
        if not children:
            return translate("{} is a live leaf: it is solved with min(bound, value): {}")
        if len(label) % 2 == 0:
            return translate("{} is live and MAX moves: all its children are added: {}")
        return translate("{} is live and MIN moves: its first child is added: {}")
    parent = label[:-1]
    if len(parent) % 2 == 0:
        return translate("{} is solved and its parent is a MAX node: the parent is solved: {}")
    if label[-1] < child_numbers(root, parent)[-1]:
        return translate("{} is solved and its parent is a MIN node: the next child is added: {}")
    return translate("{} is solved and the last child of a MIN node: the parent is solved: {}")
