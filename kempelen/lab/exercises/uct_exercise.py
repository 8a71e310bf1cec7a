"""An exercise about the selection phase of UCT."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from random import Random
from typing import Any

from agent.games.tree import Node, Tree, evaluate
from agent.search import mcts_node
from agent.search.algorithms.mcts import UCT, UCTOptions
from agent.search.tracing import Counted, Event, PlayedOut, traced
from agent.search.tree_cursor import Label
from kempelen.lab.exercises.exercise import (
    Exercise,
    ExerciseSpec,
    VisibleNode,
    mover,
    random_tree,
)
from kempelen.lab.language import Translator, format_label
from kempelen.lab.problems import UNLIMITED_DEPTH

# Minimum and maximum number of playouts before the question.
PLAYOUTS = (8, 30)
# Minimum difference between the two best bounds, so that hand calculation finds the best one.
MARGIN = 0.05


@dataclass(frozen=True)
class UctPath(Exercise):
    """An exercise that asks for the node where the next selection of UCT ends.

    `bounds` holds the upper confidence bound of each node except the root.
    """

    bounds: tuple[tuple[Label, float], ...]

    example = "2.1"

    def title(self, translate: Translator) -> str:
        return translate("The path of UCT")

    def question(self, translate: Translator) -> list[str]:
        playouts = next(event.visits for event in self.events if isinstance(event, Counted))
        nodes = translate(
            "After {} playouts, each node shows the sum of MAX's rewards / its visits."
        )
        question = translate(
            "UCT descends to the child with the largest {}, where the mean is from the view of "
            "the player who moves to the child. Untried children come first. At which node of the "
            "tree does the next selection end?"
        )
        return [nodes.format(playouts), question.format("UCB = W/N + √2·√(ln N(p) / N)")]

    def visible_nodes(self) -> list[VisibleNode]:
        """Return the nodes of the search tree with their rewards and visit counts."""
        counted = {event.label: event for event in self.events if isinstance(event, Counted)}
        paths = sorted({(), *(path for path, _ in self.bounds)})
        inner = {path[:-1] for path in paths if path}
        return [
            VisibleNode(path, format_statistics(counted.get(path)), path not in inner, mover(path))
            for path in paths
        ]

    def explanation(self, translate: Translator) -> list[str]:
        bounds = dict(self.bounds)
        (end,) = self.key
        path = () if end == "ε" else tuple(map(int, end.split(".")))
        lines = []
        for ply, _ in enumerate(path):
            children = [label for label in bounds if label[:-1] == path[:ply] and label]
            listing = ", ".join(
                f"{format_label(label)}: {_format_bound(bounds[label])}" for label in children
            )
            text = translate("largest:")
            lines.append(
                f"{format_label(path[:ply])}: UCB {listing}; {text} {format_label(path[: ply + 1])}"
            )
        return lines

    @staticmethod
    def generate(spec: ExerciseSpec, random: Random) -> Exercise | None:
        """Return an exercise, or None if the path is too short or two bounds are too close."""
        root = with_outcomes(random_tree(random, spec), random)
        playouts, seed = random.randint(*PLAYOUTS), random.randrange(1 << 30)
        before, search = run_uct(root, playouts, seed)
        counted = tuple(event for event in before if isinstance(event, Counted))
        bounds = dict(_upper_bounds(search, search.tree, ())) if search.tree else {}
        after, _ = run_uct(root, playouts + 1, seed)
        last = [event for event in after if isinstance(event, PlayedOut)][-1]
        path = last.label[:-1] if last.expanded else last.label
        if len(path) < 2 or not all(_is_clear(bounds, path[: ply + 1]) for ply in range(len(path))):
            return None
        return UctPath(spec, root, counted, (format_label(path),), tuple(sorted(bounds.items())))


def _upper_bounds(
    search: UCT[Any], parent: mcts_node.Node[Any], path: Label
) -> Iterator[tuple[Label, float]]:
    """Yield the upper confidence bound of each node below the parent."""
    for child in parent.children:
        label = (*path, child.move)
        yield label, search.upper_bound(parent, child)
        yield from _upper_bounds(search, child, label)


def run_uct(root: Node, playouts: int, seed: int) -> tuple[list[Event], UCT[Any]]:
    """Run UCT on a tree, and return its events and the search."""
    events: list[Event] = []
    search = UCT[Any](evaluate, UCTOptions(playouts=playouts, seed=seed))
    traced(search, events.append).search(Tree(root), UNLIMITED_DEPTH)
    return events, search


def with_outcomes(node: Node, random: Random) -> Node:
    """Return the tree with wins, draws and losses in place of its values."""
    if isinstance(node, list):
        return [with_outcomes(child, random) for child in node]
    return random.choice((1, 1, 0, -1, -1))


def _is_clear(bounds: dict[Label, float], path: Label) -> bool:
    others = [bounds[each] for each in bounds if each[:-1] == path[:-1] and each != path]
    return all(bounds[path] >= other + MARGIN for other in others if isfinite(other)) and all(
        isfinite(other) for other in others
    )


def format_statistics(counted: Counted | None) -> str:
    """Return the sum of the rewards and the visits of a node, such as "2/5"."""
    if counted is None:
        return "0/0"
    return f"{round(counted.mean * counted.visits) + 0}/{counted.visits}"


def _format_bound(value: float) -> str:
    return f"{value:.3f}" if isfinite(value) else "∞"
