"""The exercise on UCT: the path that it takes through the tree that it has grown."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from random import Random
from typing import Any

from agent.games.tree import Node, Tree, evaluate
from agent.search import mcts_node
from agent.search.algorithms.mcts import UCT, UCTOptions
from agent.search.tracing.search_tracing import Counted, Event, PlayedOut, traced
from agent.search.tree_cursor import Label
from kempelen.lab.exercises.exercise import Exercise, ExerciseSpec, VisibleNode, random_tree
from kempelen.lab.language import Translator, format_label
from kempelen.lab.problems import UNLIMITED_DEPTH

# The playouts before the question.
PLAYOUTS = (8, 30)
# How much greater a bound is than the next, so that it is found by hand.
MARGIN = 0.05


class UCTWithBounds(UCT[Any]):
    """UCT that says which bounds it goes by."""

    def bounds(self) -> dict[Label, float]:
        """Return the upper confidence bound of each node of the last tree but the root."""
        found: dict[Label, float] = {}

        def note(parent: mcts_node.Node[Any], path: Label) -> None:
            for child in parent.children:
                below = (*path, child.move)
                found[below] = self._upper_bound(parent, child)
                note(child, below)

        if self.tree is not None:
            note(self.tree, ())
        return found


@dataclass(frozen=True)
class UctPath(Exercise):
    """Where UCT's next selection ends.

    bounds: of the nodes of the tree but the root, as the algorithm reckons them.
    """

    bounds: tuple[tuple[Label, float], ...]

    example = "2.1"

    def title(self, translate: Translator) -> str:
        """Name it."""
        return translate("The path of UCT")

    def question(self, translate: Translator) -> list[str]:
        """Ask."""
        playouts = next(event.visits for event in self.events if isinstance(event, Counted))
        nodes = translate(
            "After {} playouts each node shows the sum of MAX's rewards / its visits."
        )
        asked = translate(
            "UCT goes down by the greatest {}, where the mean is that of whoever moves to the "
            "child; one that was not tried comes first. At which node of the tree does its next "
            "selection end?"
        )
        return [nodes.format(playouts), asked.format("UCB = W/N + √2·√(ln N(p) / N)")]

    def visible_nodes(self) -> list[VisibleNode]:
        """Return the nodes that have grown, with rewards and visits."""
        counted = {event.label: event for event in self.events if isinstance(event, Counted)}
        paths = sorted({(), *(path for path, _ in self.bounds)})
        inner = {path[:-1] for path in paths if path}
        return [VisibleNode(path, len(path) % 2 == 0, _format_statistics(counted.get(path)), path not in inner)
                for path in paths]  # fmt: skip

    def explanation(self, translate: Translator) -> list[str]:
        """Tell on each level the bounds of all children, and which is the greatest."""
        bounds = dict(self.bounds)
        (end,) = self.key
        path = () if end == "ε" else tuple(map(int, end.split(".")))
        lines = []
        for ply, _ in enumerate(path):
            children = [each for each in bounds if each[:-1] == path[:ply] and each]
            told = ", ".join(
                f"{format_label(each)}: {_format_bound(bounds[each])}" for each in children
            )
            text = translate("the greatest is that of")
            lines.append(
                f"{format_label(path[:ply])}: UCB {told}; {text} {format_label(path[: ply + 1])}"
            )
        return lines

    @staticmethod
    def generate(spec: ExerciseSpec, random: Random) -> Exercise | None:
        """Return an exercise on the next random tree; None if the path hangs by a hair."""
        root = _with_outcomes(random_tree(random, spec), random)
        playouts, seed = random.randint(*PLAYOUTS), random.randrange(1 << 30)
        before, search = _run_uct(root, playouts, seed)
        counted = tuple(event for event in before if isinstance(event, Counted))
        bounds = search.bounds()
        after, _ = _run_uct(root, playouts + 1, seed)
        last = [event for event in after if isinstance(event, PlayedOut)][-1]
        path = last.label[:-1] if last.expanded else last.label
        if len(path) < 2 or not all(_is_clear(bounds, path[: ply + 1]) for ply in range(len(path))):
            return None
        return UctPath(spec, root, counted, (format_label(path),), tuple(sorted(bounds.items())))


def _run_uct(root: Node, playouts: int, seed: int) -> tuple[list[Event], UCTWithBounds]:
    """Return all that UCT tells of so many playouts, and the search."""
    events: list[Event] = []
    kind: Any = traced(UCTWithBounds, events.append)
    search: UCTWithBounds = kind(evaluate, UCTOptions(playouts=playouts, seed=seed))
    search.search(Tree(root), UNLIMITED_DEPTH)
    return events, search


def _with_outcomes(node: Node, random: Random) -> Node:
    """Return the tree with leaves that are won, lost or drawn."""
    if isinstance(node, list):
        return [_with_outcomes(child, random) for child in node]
    return random.choice((1, 1, 0, -1, -1))


def _is_clear(bounds: dict[Label, float], path: Label) -> bool:
    """Tell whether a child's bound is plainly greater than those of its siblings."""
    others = [bounds[each] for each in bounds if each[:-1] == path[:-1] and each != path]
    return all(bounds[path] >= other + MARGIN for other in others if isfinite(other)) and all(
        isfinite(other) for other in others
    )


def _format_statistics(counted: Counted | None) -> str:
    if counted is None:
        return "0/0"
    return f"{round(counted.mean * counted.visits) + 0}/{counted.visits}"


def _format_bound(value: float) -> str:
    return f"{value:.3f}" if isfinite(value) else "∞"
