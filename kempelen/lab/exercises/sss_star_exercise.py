"""The exercise on SSS*: the next row of its list."""

from __future__ import annotations

from random import Random

from agent.games.tree import Node
from agent.search.algorithms.sss_star import State, write_state
from agent.search.tracing.search_tracing import Listed
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

# Rows of the list that are shown before the one that is asked for.
ROWS = 3


class NextRow(Exercise):
    """The next row of SSS*'s open list."""

    form, ordered, example = "states", True, "(2.1, V, 15), (1, S, 7)"

    @property
    def row(self) -> int:
        """The number of the row that is asked for, from 1."""
        return sum(isinstance(event, Listed) for event in self.events)

    def title(self, translate: Translator) -> str:
        """Name it."""
        return translate("The list of SSS*")

    def question(self, translate: Translator) -> list[str]:
        """Ask, with the rows before."""
        given = list(trace.open_list_rows(self.events, translate))[:-1]
        text = translate("What is row {} of SSS*'s open list? V is a live state, S a solved one.")
        order = translate("Of equal bounds the one further left in the tree comes first.")
        return [*given[-ROWS:], f"{text.format(self.row)} {order}"]

    def explanation(self, translate: Translator) -> list[str]:
        """Say what becomes of the state that is first."""
        before, after = [event for event in self.events if isinstance(event, Listed)][-2:]
        first = before.states[0]
        new = [state for state in after.states if state not in before.states]
        gone = [state for state in before.states[1:] if state not in after.states]
        text = _rule(self.root, first, translate).format(
            _format_state(first), ", ".join(map(_format_state, new))
        )
        lines = [text]
        if gone:
            lines.append(
                f"{translate('Taken off the list')}: {', '.join(map(_format_state, gone))}"
            )
        return [*lines, *list(trace.open_list_rows(self.events, translate))[-1:]]

    @staticmethod
    def generate(spec: ExerciseSpec, random: Random) -> Exercise | None:
        """Return an exercise on the next random tree, at a row in the middle of the run."""
        root = random_tree(random, spec)
        events = search_events(root, "sss-star")
        lists = [event for event in events if isinstance(event, Listed)]
        asked = random.randint(3, len(lists))
        states = lists[asked - 1].states
        key = tuple(
            f"({format_label(state.label)}, {'S' if state.solved else 'V'}, {format_number(state.bound)})"
            for state in states
        )
        return NextRow(spec, root, tuple(lists[:asked]), key)


def _format_state(state: State) -> str:
    return write_state(state, format_value)


def _rule(root: Node, first: State, translate: Translator) -> str:
    """Say what SSS* does with a state, and what it puts on the list for it."""
    path = first.label
    below = child_numbers(root, path)
    if not first.solved:
        if not below:
            return translate("{} is a live leaf: solved, with the lesser of bound and value: {}")
        if len(path) % 2 == 0:
            return translate("{} is live and MAX's: all its children come: {}")
        return translate("{} is live and MIN's: its first child comes: {}")
    parent = path[:-1]
    if len(parent) % 2 == 0:
        return translate("{} is solved and its parent MAX's: the parent is solved: {}")
    if path[-1] < child_numbers(root, parent)[-1]:
        return translate("{} is solved and its parent MIN's: the next child comes: {}")
    return translate("{} is solved, and the last child of MIN's: the parent is solved: {}")
