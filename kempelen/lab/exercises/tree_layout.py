"""Where the nodes of an exercise's tree go, on pages and on sheets alike."""

from __future__ import annotations

from collections.abc import Sequence

from agent.search.tree_cursor import Label
from kempelen.lab.exercises.exercise import VisibleNode

Position = tuple[float, float]


def node_positions(nodes: Sequence[VisibleNode]) -> dict[Label, Position]:
    """Return each node's place: x in leaves from the left, y in levels from the root down.

    nodes: each before its children. A parent is in the middle above its children.
    """
    children: dict[Label, list[Label]] = {node.label: [] for node in nodes}
    for node in nodes:
        if node.label:
            children[node.label[:-1]].append(node.label)
    found: dict[Label, Position] = {}
    leaves = 0
    for node in nodes:
        if not children[node.label]:
            found[node.label] = float(leaves), float(len(node.label))
            leaves += 1
    for node in reversed(nodes):
        if below := children[node.label]:
            middle = (found[below[0]][0] + found[below[-1]][0]) / 2
            found[node.label] = middle, float(len(node.label))
    return found
