"""Draw trees with Matplotlib, in the Reingold-Tilford layout of bigtree."""

from __future__ import annotations

from math import atan2, cos, sin
from typing import TYPE_CHECKING, Any

from kempelen.lab.language import Translator, format_label, format_value
from kempelen.lab.search_tree import SearchTreeNode

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LIBRARIES = ("bigtree",)
# Inches between leaves, between levels, and per character of a value.
LEAF_GAP, LEVEL_GAP, CHARACTER_WIDTH = 0.62, 1.0, 0.095
MAX_WIDTH = 36.0
# Normal and minimum font size of values in points.
FONT, MIN_FONT = 9.0, 6.0
INK, FAINT, BEST, CUT, NUMBER = "#1f2933", "#a9b2bc", "#c2410c", "#b91c1c", "#1d4ed8"
NAME = "#5f6b78"
SHAPES = {"MAX": "square,pad=0.35", "MIN": "circle,pad=0.25", "chance": "round4,pad=0.35"}
SHAPES |= {"OR": SHAPES["MAX"], "AND": SHAPES["MIN"]}
# MIN nodes with LONG_TEXT or more characters are ellipses, because circles would be too large.
LONG_TEXT, LONG_SHAPE = 4, "ellipse,pad=0.15"
# Line styles of edges to unvisited nodes, and to nodes found in the transposition table.
NOT_VISITED, REMEMBERED = (0, (3, 3)), (0, (1, 1.5))
FILLS = {"MAX": "#dbeafe", "MIN": "#fef3c7", "chance": "#dcfce7"}
FILLS |= {"OR": FILLS["MAX"], "AND": FILLS["MIN"]}
# Distance in inches from an AND node to the arc that joins its edges, and points of the arc.
ARC_RADIUS, ARC_POINTS = 0.36, 12


def tree_figure(
    root: SearchTreeNode, title: str, translate: Translator, *, strategy: bool = False
) -> Figure:
    """Draw a tree. If `strategy` is true, it is a strategy, which has no visit order."""
    from matplotlib.figure import Figure

    positions = _node_positions(root)
    right = max(x for x, _ in positions.values())
    depth = max(-y for _, y in positions.values())
    longest = max(
        len(line) for node in root.iter_nodes() for line in node.value.splitlines() or [""]
    )
    ideal_gap = max(LEAF_GAP, CHARACTER_WIDTH * (longest + 3))
    gap = min(ideal_gap, MAX_WIDTH / (right + 1))
    font = max(MIN_FONT, FONT * min(1.0, gap / ideal_gap))
    figure = Figure(figsize=((right + 3) * gap, (depth + 1.6) * LEVEL_GAP))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(-2, right + 1)
    axes.set_ylim(-depth - 0.8, 0.8)
    for node in root.iter_nodes():
        x, y = positions[node.label]
        for child in node.children:
            _draw_edge(axes, (x, y), positions[child.label], child)
            if child.cut:
                _draw_cut(axes, (x, y), positions[child.label])
        if node.is_and and len(node.children) > 1:
            _draw_arc(axes, (x, y), [positions[child.label] for child in node.children], gap)
        if node.shared is not None and node.shared in positions:
            _draw_shared(axes, (x, y), positions[node.shared])
    for node in root.iter_nodes():
        position = positions[node.label]
        goes_left = position[0] < positions[node.label[:-1]][0]
        _draw_node(axes, position, node, font, side=-1 if goes_left else 1, translate=translate)
        if node.order is not None and node.merged_count == 1 and not strategy:
            _draw_order(axes, position, node, side=-1 if goes_left else 1)
    _draw_levels(axes, root, translate)
    axes.set_title(title, fontsize=11, color=INK, y=1 - 0.35 / ((depth + 1.6) * LEVEL_GAP))
    _draw_legend(axes, root, translate, strategy)
    return figure


def _node_positions(root: SearchTreeNode) -> dict[tuple[int, ...], tuple[float, float]]:
    """Return the (x, y) coordinates of each node.

    The unit of x is the width of a leaf. y is the negative depth.
    """
    from bigtree import Node, reingold_tilford

    def grow(sketched: SearchTreeNode, parent: Any) -> Any:
        node = Node(format_label(sketched.label), parent=parent)
        node.set_attrs({"path_label": sketched.label})
        for child in sketched.children:
            grow(child, node)
        return node

    tree = grow(root, None)
    reingold_tilford(tree, sibling_separation=1.0, subtree_separation=1.2)
    positions = {}
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        nodes += node.children
        path = node.get_attr("path_label")
        positions[path] = (node.get_attr("x"), -float(len(path)))
    left = min(x for x, _ in positions.values())
    return {path: (x - left, y) for path, (x, y) in positions.items()}


def _draw_edge(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], child: SearchTreeNode
) -> None:
    (x1, y1), (x2, y2) = start, end
    visited = child.is_reached
    best = child.is_principal
    axes.plot(
        (x1, x2),
        (y1, y2),
        color=BEST if best else INK if visited else FAINT,
        linewidth=2.6 if best else 1.0,
        linestyle=REMEMBERED if child.from_table else "-" if visited else NOT_VISITED,
        zorder=1,
    )
    if child.move:
        axes.text(
            x1 + 0.55 * (x2 - x1),
            y1 + 0.55 * (y2 - y1),
            child.move,
            ha="center", va="center", fontsize=7.5, color=INK if visited else FAINT, zorder=2,
            bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"},
        )  # fmt: skip


def _draw_cut(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    (x1, y1), (x2, y2) = start, end
    axes.text(
        x1 + 0.45 * (x2 - x1), y1 + 0.45 * (y2 - y1), "✂", ha="center", va="center", fontsize=11,
        color=CUT, zorder=4, gid="cut",
    )  # fmt: skip


def _draw_arc(
    axes: Axes, parent: tuple[float, float], children: list[tuple[float, float]], gap: float
) -> None:
    """Join the edges of an AND node with an arc."""
    x, y = parent
    angles = [atan2((child[1] - y) * LEVEL_GAP, (child[0] - x) * gap) for child in children]
    first, last = min(angles), max(angles)
    steps = [first + (last - first) * index / ARC_POINTS for index in range(ARC_POINTS + 1)]
    axes.plot(
        [x + ARC_RADIUS * cos(angle) / gap for angle in steps],
        [y + ARC_RADIUS * sin(angle) / LEVEL_GAP for angle in steps],
        color=INK, linewidth=1.6, zorder=2, gid="and-arc",
    )  # fmt: skip


def _draw_shared(axes: Axes, node: tuple[float, float], same: tuple[float, float]) -> None:
    """Link a node to the node that stands for the same position."""
    from matplotlib.patches import FancyArrowPatch

    axes.add_patch(
        FancyArrowPatch(
            node, same, arrowstyle="->", mutation_scale=12, connectionstyle="arc3,rad=0.25",
            color=NUMBER, linestyle="--", linewidth=1.0, shrinkA=12, shrinkB=12, zorder=1,
            gid="shared",
        )
    )  # fmt: skip


def _draw_node(
    axes: Axes,
    place: tuple[float, float],
    node: SearchTreeNode,
    font: float,
    side: int,
    translate: Translator,
) -> None:
    x, y = place
    visited = node.is_reached
    ink = BEST if node.is_principal else INK if visited else FAINT
    is_long = node.kind == "MIN" and len(node.value) >= LONG_TEXT and "\n" not in node.value
    axes.text(
        x, y, node.value or " ", ha="center", va="center", fontsize=font, zorder=3,
        color=INK if visited else FAINT, gid=f"node-{format_label(node.label)}", linespacing=0.95,
        bbox={
            "boxstyle": LONG_SHAPE if is_long else SHAPES[node.kind],
            "facecolor": FILLS[node.kind] if visited else "white",
            "edgecolor": ink,
            "linewidth": 2.0 if node.is_principal else 1.0,
            "linestyle": "-" if visited else (0, (2, 2)),
        },
    )  # fmt: skip
    if node.name or node.position:
        axes.annotate(
            node.name or node.position, (x, y), (0, -13), textcoords="offset points", ha="center",
            va="top", fontsize=7 if node.name else 6, color=NAME, zorder=4, linespacing=1.0,
            family=None if node.name else "monospace",
            bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"},
        )  # fmt: skip
    if node.window is not None and node.children:
        axes.annotate(
            _bounds(node, translate), (x, y), (side * (9 + 3.2 * len(node.value)), 5),
            textcoords="offset points", ha="left" if side > 0 else "right", va="center",
            fontsize=7, color=INK, zorder=4, linespacing=1.05,
        )  # fmt: skip


def _bounds(node: SearchTreeNode, translate: Translator) -> str:
    assert node.window is not None
    lines = []
    for sign, first, last in zip("αβ", node.window, node.final_window or node.window, strict=True):
        bounds = dict.fromkeys(format_value(bound, 3, translate) for bound in (first, last))
        lines.append(f"{sign} {' → '.join(bounds)}")
    return "\n".join(lines)


def _draw_order(axes: Axes, place: tuple[float, float], node: SearchTreeNode, side: int) -> None:
    axes.annotate(
        str(node.order), place, (side * (7 + 2.2 * len(node.value)), 16),
        textcoords="offset points", ha="center", va="center", fontsize=6.5, color=NUMBER, zorder=4,
    )  # fmt: skip


def _draw_levels(axes: Axes, root: SearchTreeNode, translate: Translator) -> None:
    kinds: dict[int, set[str]] = {}
    for node in root.iter_nodes():
        if not node.is_leaf:
            kinds.setdefault(len(node.label), set()).add(node.kind)
    for level, level_kinds in kinds.items():
        if len(level_kinds) == 1:
            kind = level_kinds.pop()
            name = translate(kind) if kind == "chance" else kind
            axes.text(
                -1.9, -level, name, ha="left", va="center", fontsize=9, color=INK,
                fontweight="bold",
            )  # fmt: skip


def _draw_legend(axes: Axes, root: SearchTreeNode, translate: Translator, strategy: bool) -> None:
    from matplotlib.lines import Line2D

    nodes = list(root.iter_nodes())
    handles = []
    for kind, marker in (("MAX", "s"), ("MIN", "o"), ("OR", "s"), ("AND", "o"), ("chance", "D")):
        if any(node.kind == kind for node in nodes):
            name = translate(kind) if kind == "chance" else kind
            handles.append(_handle(name, marker=marker, markerfacecolor=FILLS[kind]))
    best = translate("strategy" if strategy else "principal variation")
    handles.append(Line2D([], [], color=BEST, linewidth=2.6, label=best))
    if any(not node.is_reached for node in nodes):
        line = Line2D([], [], color=FAINT, linestyle=NOT_VISITED, label=translate("not visited"))
        handles.append(line)
    if any(node.from_table for node in nodes):
        line = Line2D([], [], color=INK, linestyle=REMEMBERED, label=translate("from memory"))
        handles.append(line)
    if any(node.is_and and len(node.children) > 1 for node in nodes):
        handles.append(_handle(translate("all branches needed"), marker="$⌣$", markerfacecolor=INK))
    if any(node.shared is not None for node in nodes):
        line = Line2D([], [], color=NUMBER, linestyle="--", label=translate("the same position"))
        handles.append(line)
    if any(node.cut for node in nodes):
        handles.append(_handle(translate("cut-off"), marker="$✂$", markerfacecolor=CUT))
    if any(node.merged_count > 1 for node in nodes):
        handles.append(_handle(translate("merged nodes"), marker="$+n$", markerfacecolor=INK))
    if not strategy:
        handles.append(_handle(translate("order of visits"), marker="$1$", markerfacecolor=NUMBER))
    axes.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=len(handles),
        frameon=False, fontsize=8, handletextpad=0.4, columnspacing=1.4,
    )  # fmt: skip


def _handle(name: str, *, marker: str, markerfacecolor: str) -> Any:
    from matplotlib.lines import Line2D

    edge = markerfacecolor if marker.startswith("$") else INK
    return Line2D(
        [], [], linestyle="none", label=name, marker=marker, markersize=9,
        markerfacecolor=markerfacecolor, markeredgecolor=edge,
    )  # fmt: skip
