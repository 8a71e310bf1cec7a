"""Exercises about search algorithms on small random trees.

The answer key is computed from the trace events of the search itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from agent.games.tree import Node, Tree, evaluate, parse_tree
from agent.io.message import Message
from agent.search import algorithm_spec
from agent.search.algorithms.mtd import MTD
from agent.search.algorithms.sss_star import SSSStar
from agent.search.tracing import (
    CutOff,
    Entered,
    Evaluated,
    Event,
    Listed,
    Returned,
)
from agent.search.tree_cursor import Label
from kempelen.lab import trace
from kempelen.lab.exercises.marking import Mark, format_number, mark_answer, parse_parts
from kempelen.lab.language import Translator, format_label, format_value
from kempelen.lab.problems import UNLIMITED_DEPTH, SearchProblem
from kempelen.lab.traced_search import trace_search

# Leaf values are integers from 1 to MAX_LEAF_VALUE.
MAX_LEAF_VALUE = 20
# Number of random trees to try before reporting that no exercise was found.
MAX_TRIES = 500
DEPTHS, BRANCHINGS = (2, 5), (2, 5)
# Limits of a given tree, in characters of its text, nodes and levels.
MAX_TREE_LENGTH, MAX_TREE_NODES, MAX_TREE_LEVELS = 10_000, 150, 10


@dataclass(frozen=True)
class ExerciseSpec:
    """The settings that determine an exercise.

    `number` is the position, from 1, among the student's exercises of the same kind. `algorithm`
    is used only by the kinds "order" and "windows". `tree` is a YAML text, or "" for a random tree.
    """

    kind: str
    seed: int = 0
    student: int = 1
    number: int = 1
    depth: int = 3
    branching: int = 3
    algorithm: str = "alpha-beta"
    tree: str = ""

    def random(self) -> Random:
        """Return a random generator, seeded with the settings except the algorithm and tree."""
        return Random(
            f"{self.kind} {self.seed} {self.student} {self.number} {self.depth} {self.branching}"
        )


@dataclass(frozen=True)
class VisibleNode:
    """A tree node as the student sees it. An empty `text` hides the value.

    `mover` is "MAX", "MIN" or "chance". `chance` is the probability of the node, as text.
    """

    label: Label
    text: str
    is_leaf: bool
    mover: str
    chance: str = ""


@dataclass(frozen=True)
class Exercise(ABC):
    """A question about a tree, with the parts of the correct answer in `key`.

    `form` is the format of each part, a key of `marking.FORMS`. `ordered` tells whether the order
    of the parts counts.
    """

    spec: ExerciseSpec
    root: Node
    events: tuple[Event, ...]
    key: tuple[str, ...]

    form: ClassVar[str] = "labels"
    ordered: ClassVar[bool] = False
    example: ClassVar[str] = ""

    @abstractmethod
    def title(self, translate: Translator) -> str:
        """Return the title of the exercise."""

    @abstractmethod
    def question(self, translate: Translator) -> list[str]:
        """Return the paragraphs of the question."""

    @abstractmethod
    def explanation(self, translate: Translator) -> list[str]:
        """Return the steps that lead to the correct answer, one per line."""

    def visible_nodes(self) -> list[VisibleNode]:
        """Return the nodes of the tree in preorder."""
        return [
            VisibleNode(path, "", is_leaf=False, mover=mover(path))
            if isinstance(node, list)
            else VisibleNode(path, format_number(node), is_leaf=True, mover=mover(path))
            for path, node in iter_nodes(self.root)
        ]

    def parse_answer(self, text: str) -> tuple[str, ...]:
        """Split an answer into its parts and normalize them.

        Raise ValueError, with an example of a valid answer, if the answer is malformed.
        """
        try:
            return parse_parts(self.form, text)
        except ValueError as error:
            raise ValueError(Message("{} (example: {})", error, self.example)) from None

    def mark(self, text: str) -> Mark:
        """Compare an answer with the key.

        Raise ValueError, with an example of a valid answer, if the answer is malformed.
        """
        return mark_answer(self.key, self.parse_answer(text), ordered=self.ordered)

    def key_text(self) -> str:
        return (" " if self.form == "labels" else ", ").join(self.key)


class MinimaxValues(Exercise):
    """An exercise that asks for the minimax values of all inner nodes."""

    form, example = "values", "1=3, 2=5, e=5"

    def title(self, translate: Translator) -> str:
        return translate("Values")

    def question(self, translate: Translator) -> list[str]:
        return [
            translate("What are the minimax values of the inner nodes? Write each as NODE=VALUE.")
        ]

    def explanation(self, translate: Translator) -> list[str]:
        values = {event.label: event.value for event in self.events if isinstance(event, Returned)}
        values |= {
            event.label: event.value for event in self.events if isinstance(event, Evaluated)
        }
        lines = []
        for event in self.events:
            children = [(*event.label, number) for number in child_numbers(self.root, event.label)]
            if isinstance(event, Returned) and children:
                extremum = translate("maximum of") if event.maximises else translate("minimum of")
                among = ", ".join(format_value(values[child]) for child in children)
                lines.append(
                    f"{format_label(event.label)}: {event.mover}, {extremum} {among}: "
                    f"{format_value(event.value)}"
                )
        return lines

    @staticmethod
    def generate(spec: ExerciseSpec, random: Random) -> Exercise | None:
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
    """An exercise that asks for the order in which an algorithm evaluates the leaves."""

    ordered, example = True, "1.1.1 1.1.2 1.2.1"

    def title(self, translate: Translator) -> str:
        return f"{translate('Order of visits')}: {self.spec.algorithm}"

    def question(self, translate: Translator) -> list[str]:
        text = translate("Which leaves does {} evaluate, and in which order?")
        again = translate("If a leaf is evaluated again, write it again.")
        paragraphs = [f"{text.format(self.spec.algorithm)} {again}"]
        algorithm = algorithm_spec.parse(self.spec.algorithm)
        if issubclass(algorithm.search_class, SSSStar):
            paragraphs.append(
                translate("States with equal bounds are ordered from left to right in the tree.")
            )
        elif algorithm.search_class is MTD:
            guess = format_value(algorithm.options.get("first_guess", 0))
            paragraphs.append(translate("The first guess is {}.").format(guess))
        return paragraphs

    def explanation(self, translate: Translator) -> list[str]:
        if any(isinstance(event, Listed) for event in self.events):
            return list(trace.open_list_rows(self.events, translate))
        return [
            f"{format_label(event.label)}: {text}"
            for event, text in trace.described_steps(self.events, translate)
        ]

    @staticmethod
    def generate(spec: ExerciseSpec, random: Random) -> Exercise | None:
        root = random_tree(random, spec)
        events = search_events(root, spec.algorithm)
        key = tuple(format_label(event.label) for event in events if isinstance(event, Evaluated))
        return LeafOrder(spec, root, events, key)


class CutOffs(Exercise):
    """An exercise that asks which branches alpha-beta cuts off, and by which bounds."""

    form, example = "bounds", "2.2<=3, 1.2.2>=8"

    def title(self, translate: Translator) -> str:
        return translate("Cut-offs")

    def question(self, translate: Translator) -> list[str]:
        why = translate(
            "Write BRANCH<=ALPHA where the value of MIN is at most alpha, and BRANCH>=BETA where "
            "the value of MAX is at least beta."
        )
        return [translate("Which branches does alpha-beta cut off, and why?"), why]

    def explanation(self, translate: Translator) -> list[str]:
        lines = []
        for cut, alpha, beta in _cuts(self.events):
            without = ", ".join(format_label(branch) for branch in _branches_cut(self.root, cut))
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
            text = translate("{} ({}) has {} after {}: the opponent will avoid this node")
            lines.append(f"{text.format(format_label(cut.label), cut.mover, bound, by)}: {without}")
        return lines

    @staticmethod
    def generate(spec: ExerciseSpec, random: Random) -> Exercise | None:
        """Return an exercise about a random tree, or None if alpha-beta cuts nothing off."""
        root = random_tree(random, spec)
        events = search_events(root, "alpha-beta")
        key = []
        for cut, alpha, beta in _cuts(events):
            why = f"≥{format_number(beta)}" if cut.maximises else f"≤{format_number(alpha)}"
            key += [f"{format_label(branch)}{why}" for branch in _branches_cut(root, cut)]
        return CutOffs(spec, root, events, tuple(key)) if key else None


def random_tree(random: Random, spec: ExerciseSpec) -> Node:
    """Return a random tree of uniform depth with 2 to `spec.branching` children per inner node.

    If the specification contains a tree, return that.
    """
    if spec.tree:
        return given_tree(spec).root

    def grow(depth: int) -> Node:
        if depth == 0:
            return random.randint(1, MAX_LEAF_VALUE)
        return [grow(depth - 1) for _ in range(random.randint(2, spec.branching))]

    return grow(spec.depth)


def given_tree(spec: ExerciseSpec) -> Tree:
    """Return the tree of a specification. Raise ValueError if it is invalid or too large."""
    return parse_tree(spec.tree, MAX_TREE_NODES, MAX_TREE_LEVELS)


def mover(path: Label) -> str:
    """Return the player to move in a tree without chance nodes, "MAX" or "MIN"."""
    return "MIN" if len(path) % 2 else "MAX"


def search_events(root: Node, algorithm: str) -> tuple[Event, ...]:
    problem = SearchProblem("tree", Tree(root), evaluate, UNLIMITED_DEPTH)
    return tuple(trace_search(problem, algorithm_spec.parse(algorithm)).events)


def iter_nodes(root: Node, path: Label = ()) -> Iterator[tuple[Label, Node]]:
    """Yield the label and the subtree of each node, in preorder."""
    yield path, root
    if isinstance(root, list):
        for number, child in enumerate(root, 1):
            yield from iter_nodes(child, (*path, number))


def child_numbers(root: Node, path: Label) -> range:
    """Return the numbers of a node's children, from 1, or an empty range for a leaf."""
    node = root
    for number in path:
        assert isinstance(node, list)
        node = node[number - 1]
    return range(1, len(node) + 1) if isinstance(node, list) else range(0)


def _cuts(events: Iterable[Event]) -> Iterator[tuple[CutOff, float, float]]:
    """Yield each cut-off with the values of alpha and beta on entry to its node."""
    windows: dict[Label, tuple[float, float]] = {}
    for event in events:
        if isinstance(event, Entered) and event.window is not None:
            windows[event.label] = event.window
        elif isinstance(event, CutOff):
            yield event, *windows[event.label]


def _branches_cut(root: Node, cut: CutOff) -> list[Label]:
    return [(*cut.label, number) for number in child_numbers(root, cut.label) if number > cut.by]
