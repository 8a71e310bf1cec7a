"""Exercises on search: what is asked, the key to it, and why it is so.

An exercise follows from its origin alone: a kind, a seed, a student's number. The algorithm runs on
a random tree, watched by agent.search.tracing.search_tracing, and the key is read from what it told; nothing is
computed a second time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from agent.games.tree import Node, Tree, evaluate
from agent.search import algorithm_spec
from agent.search.algorithms.mtd import MTD
from agent.search.algorithms.sss_star import SSSStar
from agent.search.tracing.search_tracing import (
    CutOff,
    Entered,
    Evaluated,
    Event,
    Listed,
    Returned,
    traced,
)
from agent.search.tree_cursor import Label
from kempelen.lab import trace
from kempelen.lab.exercises.marking import Mark, format_number, mark_answer, parse_parts
from kempelen.lab.language import Translator, format_label, format_value
from kempelen.lab.problems import UNLIMITED_DEPTH, SearchProblem

# Values of leaves are whole numbers up to here.
MAX_LEAF_VALUE = 20
# Trees that are drawn before it is said that there is no exercise of that size.
MAX_TRIES = 500
DEPTHS, BRANCHINGS = (2, 5), (2, 5)


@dataclass(frozen=True)
class ExerciseSpec:
    """What an exercise follows from.

    number: of the exercise among those of its kind. algorithm: whose order of visits is asked.
    """

    kind: str
    seed: int = 0
    student: int = 1
    number: int = 1
    depth: int = 3
    branching: int = 3
    algorithm: str = "alpha-beta"

    def random(self) -> Random:
        """Return what all that is random in the exercise is drawn from."""
        return Random(
            f"{self.kind} {self.seed} {self.student} {self.number} {self.depth} {self.branching}"
        )


@dataclass(frozen=True)
class VisibleNode:
    """A node as the student sees it. text: what stands in it, "" where that is asked."""

    label: Label
    maximises: bool
    text: str
    is_leaf: bool


@dataclass(frozen=True)
class Exercise(ABC):
    """One question about a tree, with its key.

    key: the parts of the right answer, as exercise_marks writes them.
    """

    spec: ExerciseSpec
    root: Node
    events: tuple[Event, ...]
    key: tuple[str, ...]

    # The form of the answer's parts, whether their order counts, and an answer as an example.
    form: ClassVar[str] = "labels"
    ordered: ClassVar[bool] = False
    example: ClassVar[str] = ""

    @abstractmethod
    def title(self, translate: Translator) -> str:
        """Name what the exercise is about."""

    @abstractmethod
    def question(self, translate: Translator) -> list[str]:
        """Return what is asked, a paragraph a line."""

    @abstractmethod
    def explanation(self, translate: Translator) -> list[str]:
        """Return why the key is right, a step a line."""

    def visible_nodes(self) -> list[VisibleNode]:
        """Return the tree's nodes, each before its children, from left to right."""
        return [
            VisibleNode(
                path,
                len(path) % 2 == 0,
                "" if isinstance(node, list) else format_number(node),
                not isinstance(node, list),
            )
            for path, node in iter_nodes(self.root)
        ]

    def parse_answer(self, text: str) -> tuple[str, ...]:
        """Return the parts of an answer; ValueError, with an example, for what is none."""
        try:
            return parse_parts(self.form, text)
        except ValueError as error:
            raise ValueError(f"{error}; write it like this: {self.example}") from None

    def mark(self, text: str) -> Mark:
        """Mark an answer; ValueError, with an example, for what is none."""
        return mark_answer(self.key, self.parse_answer(text), ordered=self.ordered)

    def key_text(self) -> str:
        """Write the key as an answer."""
        return (" " if self.form == "labels" else ", ").join(self.key)


class MinimaxValues(Exercise):
    """The minimax values of all inner nodes."""

    form, example = "values", "1=3, 2=5, e=5"

    def title(self, translate: Translator) -> str:
        """Name it."""
        return translate("Values")

    def question(self, translate: Translator) -> list[str]:
        """Ask."""
        return [
            translate("What are the minimax values of the inner nodes? Write each as NODE=VALUE.")
        ]

    def explanation(self, translate: Translator) -> list[str]:
        """Say node by node of what its value is the greatest or the least."""
        values = {event.label: event.value for event in self.events if isinstance(event, Returned)}
        values |= {
            event.label: event.value for event in self.events if isinstance(event, Evaluated)
        }
        lines = []
        for event in self.events:
            children = [(*event.label, place) for place in child_numbers(self.root, event.label)]
            if isinstance(event, Returned) and children:
                word = (
                    translate("the greatest of") if event.maximises else translate("the least of")
                )
                among = ", ".join(format_value(values[child]) for child in children)
                lines.append(
                    f"{format_label(event.label)}: {_player_name(event)}, {word} {among}: {format_value(event.value)}"
                )
        return lines

    @staticmethod
    def generate(spec: ExerciseSpec, random: Random) -> Exercise | None:
        """Return an exercise on the next random tree."""
        root = random_tree(random, spec)
        events = search_events(root, "minimax")
        returned = {event.label: event.value for event in events if isinstance(event, Returned)}
        key = tuple(
            f"{format_label(path)}={format_number(returned[path])}"
            for path, node in iter_nodes(root)
            if isinstance(node, list)
        )
        return MinimaxValues(spec, root, events, key)


class LeafOrder(Exercise):
    """The leaves that an algorithm evaluates, in their order."""

    ordered, example = True, "1.1.1 1.1.2 1.2.1"

    def title(self, translate: Translator) -> str:
        """Name it."""
        return f"{translate('Order of visits')}: {self.spec.algorithm}"

    def question(self, translate: Translator) -> list[str]:
        """Ask."""
        text = translate("Which leaves does {} evaluate, and in which order?")
        again = translate("A leaf that is evaluated again is written again.")
        asked = [f"{text.format(self.spec.algorithm)} {again}"]
        chosen = algorithm_spec.parse(self.spec.algorithm)
        if issubclass(chosen.search_class, SSSStar):
            asked.append(translate("Of equal bounds the one further left in the tree comes first."))
        elif chosen.search_class is MTD:
            guess = format_value(chosen.options.get("first_guess", 0))
            asked.append(translate("The first guess is {}.").format(guess))
        return asked

    def explanation(self, translate: Translator) -> list[str]:
        """Tell the algorithm's steps; of SSS* and DUAL* that is the open list."""
        if any(isinstance(event, Listed) for event in self.events):
            return list(trace.open_list_rows(self.events, translate))
        return [
            f"{format_label(event.label)}: {text}"
            for event, text in trace.described_steps(self.events, translate)
        ]

    @staticmethod
    def generate(spec: ExerciseSpec, random: Random) -> Exercise | None:
        """Return an exercise on the next random tree."""
        root = random_tree(random, spec)
        events = search_events(root, spec.algorithm)
        key = tuple(format_label(event.label) for event in events if isinstance(event, Evaluated))
        return LeafOrder(spec, root, events, key)


class CutOffs(Exercise):
    """The branches that alpha-beta cuts off, and by which bound."""

    form, example = "bounds", "2.2<=3, 1.2.2>=8"

    def title(self, translate: Translator) -> str:
        """Name it."""
        return translate("Cut-offs")

    def question(self, translate: Translator) -> list[str]:
        """Ask."""
        why = translate(
            "Write each as BRANCH<=ALPHA where MIN's value is not above alpha, and as BRANCH>=BETA "
            "where MAX's is not below beta."
        )
        return [translate("Which branches does alpha-beta cut off, and why?"), why]

    def explanation(self, translate: Translator) -> list[str]:
        """Say at each cut-off what the node has and what bound it has come to."""
        lines = []
        for cut, alpha, beta in _cuts(self.events):
            without = ", ".join(format_label(each) for each in _branches_cut(self.root, cut))
            if not without:
                continue
            by = format_label((*cut.label, cut.by))
            value = format_value(next(
                event.value for event in self.events
                if isinstance(event, Returned) and event.label == cut.label
            ))  # fmt: skip
            bound = f"{value} ≥ β = {format_value(beta)}" if cut.maximises else (
                f"{value} ≤ α = {format_value(alpha)}"
            )  # fmt: skip
            text = translate(
                "{} ({}) has {} after {}: the other player will not let it come to this"
            )
            lines.append(
                f"{text.format(format_label(cut.label), _player_name(cut), bound, by)}: {without}"
            )
        return lines

    @staticmethod
    def generate(spec: ExerciseSpec, random: Random) -> Exercise | None:
        """Return an exercise on the next random tree; None if nothing is cut off in it."""
        root = random_tree(random, spec)
        events = search_events(root, "alpha-beta")
        key = []
        for cut, alpha, beta in _cuts(events):
            why = f"≥{format_number(beta)}" if cut.maximises else f"≤{format_number(alpha)}"
            key += [f"{format_label(branch)}{why}" for branch in _branches_cut(root, cut)]
        return CutOffs(spec, root, events, tuple(key)) if key else None


def random_tree(random: Random, spec: ExerciseSpec) -> Node:
    """Return a tree with leaves all at one depth; inner nodes have 2 children or more."""

    def grow(left: int) -> Node:
        if not left:
            return random.randint(1, MAX_LEAF_VALUE)
        return [grow(left - 1) for _ in range(random.randint(2, spec.branching))]

    return grow(spec.depth)


def search_events(root: Node, algorithm: str) -> tuple[Event, ...]:
    """Return all that an algorithm tells of its search of a tree."""
    chosen = algorithm_spec.parse(algorithm)
    events: list[Event] = []
    problem = SearchProblem("tree", Tree(root), evaluate, UNLIMITED_DEPTH)
    search = problem.search(chosen, kind=traced(chosen.search_class, events.append))
    search.search(problem.game, problem.depth)
    return tuple(events)


def iter_nodes(root: Node, path: Label = ()) -> Iterator[tuple[Label, Node]]:
    """Generate a tree's nodes with their labels, each before its children."""
    yield path, root
    if isinstance(root, list):
        for place, child in enumerate(root, 1):
            yield from iter_nodes(child, (*path, place))


def child_numbers(root: Node, path: Label) -> range:
    """Return the numbers of a node's children."""
    node = root
    for place in path:
        assert isinstance(node, list)
        node = node[place - 1]
    return range(1, len(node) + 1) if isinstance(node, list) else range(0)


def _cuts(events: Iterable[Event]) -> Iterator[tuple[CutOff, float, float]]:
    """Generate the cut-offs with the window that their nodes were entered with."""
    windows: dict[Label, tuple[float, float]] = {}
    for event in events:
        if isinstance(event, Entered) and event.window is not None:
            windows[event.label] = event.window
        elif isinstance(event, CutOff):
            yield event, *windows[event.label]


def _branches_cut(root: Node, cut: CutOff) -> list[Label]:
    """Return the branches that a cut-off leaves out."""
    return [(*cut.label, place) for place in child_numbers(root, cut.label) if place > cut.by]


def _player_name(event: Event) -> str:
    return "MAX" if event.maximises else "MIN"
