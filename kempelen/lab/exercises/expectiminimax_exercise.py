from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from random import Random

from agent.games.tree import ChanceTree, Node, NodeAnnotation, evaluate
from agent.search import algorithm_spec
from agent.search.tracing import Event, Returned
from agent.search.tree_cursor import Label
from kempelen.lab.exercises.exercise import (
    Exercise,
    ExerciseSpec,
    VisibleNode,
    child_numbers,
    given_tree,
    iter_nodes,
    random_tree,
)
from kempelen.lab.exercises.marking import format_number
from kempelen.lab.language import Translator, format_label, format_value
from kempelen.lab.problems import UNLIMITED_DEPTH, SearchProblem
from kempelen.lab.traced_search import trace_search

# The levels of a random tree, from the root, then from its beginning again.
LEVELS = ("MAX", "chance", "MIN", "chance")
# Significant digits and decimals of exact values.
DIGITS = 8
# If a value has more decimals than this, all values are rounded to the second number of decimals.
MAX_DECIMALS, ROUNDED_DECIMALS = 4, 3


@dataclass(frozen=True)
class ExpectiminimaxValues(Exercise):
    """An exercise that asks for the values of all inner nodes of a tree with chance nodes."""

    notes: Mapping[Label, NodeAnnotation]

    form, example = "values", "1.2=4, 1=3.25, e=5"

    def title(self, translate: Translator) -> str:
        return translate("Values with chance nodes")

    def question(self, translate: Translator) -> list[str]:
        return [
            translate(
                "What are the values of the inner nodes? Write each as NODE=VALUE. The value of a "
                "chance node is the mean of its children, weighted by their probabilities."
            ),
            *([translate("Round the values to 3 decimals.")] if self.is_rounded else []),
        ]

    @property
    def is_rounded(self) -> bool:
        """Whether the answer has rounded values, because exact ones have too many decimals."""
        return _needs_rounding(_values(self.events))

    def visible_nodes(self) -> list[VisibleNode]:
        """Return the nodes with their movers and probabilities."""
        tree = ChanceTree(self.root, self.notes)
        shown = []
        for path, node in iter_nodes(self.root):
            chance = self._chances(path[:-1]) if path else ()
            shown.append(
                VisibleNode(
                    path,
                    "" if isinstance(node, list) else format_number(node),
                    not isinstance(node, list),
                    _mover(tree, path),
                    _chance_text(chance[path[-1] - 1]) if chance else "",
                )
            )
        return shown

    def explanation(self, translate: Translator) -> list[str]:
        values = dict(_values(self.events))
        leaves = {path: node for path, node in iter_nodes(self.root) if not isinstance(node, list)}
        movers = {node.label: node.mover for node in self.visible_nodes()}
        lines = []
        for path, value in values.items():
            children = [(*path, number) for number in child_numbers(self.root, path)]
            if not children:
                continue
            texts = [
                format_value(leaves[child] if child in leaves else values[child], DIGITS)
                for child in children
            ]
            mover = movers[path]
            if mover == "chance":
                chances = map(_chance_text, self._chances(path))
                terms = (f"{chance}·{text}" for chance, text in zip(chances, texts, strict=True))
                rule = f"{translate('mean')} {' + '.join(terms)}"
            else:
                extremum = "maximum of" if mover == "MAX" else "minimum of"
                rule = f"{translate(extremum)} {', '.join(texts)}"
            name = translate(mover) if mover == "chance" else mover
            lines.append(f"{format_label(path)}: {name}, {rule}: {format_value(value, DIGITS)}")
        return lines

    @staticmethod
    def generate(spec: ExerciseSpec, random: Random) -> Exercise | None:
        if spec.tree:
            tree = given_tree(spec)
            return expectiminimax_exercise(spec, tree.root, tree.notes)
        root = random_tree(random, spec)
        notes = {
            path: NodeAnnotation(chances=_random_chances(len(node), random))
            for path, node in iter_nodes(root)
            if isinstance(node, list) and LEVELS[len(path) % len(LEVELS)] == "chance"
        }
        return expectiminimax_exercise(spec, root, notes)

    def _chances(self, path: Label) -> tuple[float, ...]:
        note = self.notes.get(path)
        return note.chances if note is not None else ()


def expectiminimax_exercise(
    spec: ExerciseSpec, root: Node, notes: Mapping[Label, NodeAnnotation]
) -> ExpectiminimaxValues:
    problem = SearchProblem("tree", ChanceTree(root, notes), evaluate, UNLIMITED_DEPTH)
    events = tuple(trace_search(problem, algorithm_spec.parse("expectiminimax")).events)
    values = _values(events)
    is_rounded = _needs_rounding(values)
    key = tuple(
        f"{format_label(path)}={format_number(_round(value) if is_rounded else value)}"
        for path, value in sorted(values)
        if child_numbers(root, path)
    )
    return ExpectiminimaxValues(spec, root, events, key, notes)


def _values(events: tuple[Event, ...]) -> list[tuple[Label, float]]:
    return [
        (event.label, round(event.value, DIGITS))  # without errors such as 0.30000000000000004
        for event in events
        if isinstance(event, Returned)
    ]


def _needs_rounding(values: list[tuple[Label, float]]) -> bool:
    return any(round(value, MAX_DECIMALS) != value for _, value in values)


def _round(value: float) -> float:
    """Round halves away from zero, as students do."""
    step = Decimal(1).scaleb(-ROUNDED_DECIMALS)
    return float(Decimal(repr(value)).quantize(step, ROUND_HALF_UP))


def _random_chances(count: int, random: Random) -> tuple[float, ...]:
    """Return probabilities that are multiples of a quarter, or of an eighth for many children."""
    parts = 4 if count < 4 else 8
    cuts = sorted(random.sample(range(1, parts), count - 1))
    return tuple(
        (end - start) / parts for start, end in zip([0, *cuts], [*cuts, parts], strict=True)
    )


def _chance_text(chance: float) -> str:
    return str(Fraction(chance).limit_denominator(10_000))


def _mover(tree: ChanceTree, path: Label) -> str:
    for move in path:
        tree.play(move)
    mover = "chance" if tree.note.chances else "MIN" if tree.mover else "MAX"
    for _ in path:
        tree.undo()
    return mover
