from __future__ import annotations

from collections.abc import Sequence

from agent.search.tree_cursor import Label
from kempelen.lab.exercises.exercise import VisibleNode

Position = tuple[float, float]


def node_positions(nodes: Sequence[VisibleNode]) -> dict[Label, Position]:
    """Return the (x, y) coordinates of each node, with parents centred above their children.

    `nodes` must be in preorder. The unit of x is the width of a leaf. y is the depth.
    """
    children: dict[Label, list[Label]] = {node.label: [] for node in nodes}
    for node in nodes:
        if node.label:
            children[node.label[:-1]].append(node.label)
    positions: dict[Label, Position] = {}
    leaves = 0
    for node in nodes:
        if not children[node.label]:
            positions[node.label] = float(leaves), float(len(node.label))
            leaves += 1
    for node in reversed(nodes):
        if child_labels := children[node.label]:
            middle = (positions[child_labels[0]][0] + positions[child_labels[-1]][0]) / 2
            positions[node.label] = middle, float(len(node.label))
    return positions
