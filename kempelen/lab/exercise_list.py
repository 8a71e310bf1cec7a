"""The exercise on SSS*: the next row of its list."""

from __future__ import annotations

from random import Random

from agent.games.tree import Node
from agent.search.observing import Listed
from agent.search.sss_star import State, write_state
from kempelen.lab import trace
from kempelen.lab.exercise_kinds import Exercise, Origin, places_below, random_tree, run
from kempelen.lab.exercise_marks import write_number
from kempelen.lab.words import Say, label, number

# Rows of the list that are shown before the one that is asked for.
ROWS = 3


class NextRow(Exercise):
    """The next row of SSS*'s open list."""

    form, ordered, example = "states", True, "(2.1, V, 15), (1, S, 7)"

    @property
    def row(self) -> int:
        """The number of the row that is asked for, from 1."""
        return sum(isinstance(event, Listed) for event in self.events)

    def title(self, say: Say) -> str:
        """Name it."""
        return say("The list of SSS*")

    def question(self, say: Say) -> list[str]:
        """Ask, with the rows before."""
        given = list(trace.listed(self.events, say))[:-1]
        text = say("What is row {} of SSS*'s open list? V is a live state, S a solved one.")
        order = say("Of equal bounds the one further left in the tree comes first.")
        return [*given[-ROWS:], f"{text.format(self.row)} {order}"]

    def explanation(self, say: Say) -> list[str]:
        """Say what becomes of the state that is first."""
        before, after = [event for event in self.events if isinstance(event, Listed)][-2:]
        first = before.states[0]
        new = [state for state in after.states if state not in before.states]
        gone = [state for state in before.states[1:] if state not in after.states]
        text = _rule(self.root, first, say).format(_written(first), ", ".join(map(_written, new)))
        lines = [text]
        if gone:
            lines.append(f"{say('Taken off the list')}: {', '.join(map(_written, gone))}")
        return [*lines, *list(trace.listed(self.events, say))[-1:]]

    @staticmethod
    def made(origin: Origin, random: Random) -> Exercise | None:
        """Return an exercise on the next random tree, at a row in the middle of the run."""
        root = random_tree(random, origin)
        events = run(root, "sss-star")
        lists = [event for event in events if isinstance(event, Listed)]
        asked = random.randint(3, len(lists))
        states = lists[asked - 1].states
        key = tuple(
            f"({label(state.label)}, {'S' if state.solved else 'V'}, {write_number(state.bound)})"
            for state in states
        )
        return NextRow(origin, root, tuple(lists[:asked]), key)


def _written(state: State) -> str:
    return write_state(state, number)


def _rule(root: Node, first: State, say: Say) -> str:
    """Say what SSS* does with a state, and what it puts on the list for it."""
    path = first.label
    below = places_below(root, path)
    if not first.solved:
        if not below:
            return say("{} is a live leaf: solved, with the lesser of bound and value: {}")
        if len(path) % 2 == 0:
            return say("{} is live and MAX's: all its children come: {}")
        return say("{} is live and MIN's: its first child comes: {}")
    parent = path[:-1]
    if len(parent) % 2 == 0:
        return say("{} is solved and its parent MAX's: the parent is solved: {}")
    if path[-1] < places_below(root, parent)[-1]:
        return say("{} is solved and its parent MIN's: the next child comes: {}")
    return say("{} is solved, and the last child of MIN's: the parent is solved: {}")
