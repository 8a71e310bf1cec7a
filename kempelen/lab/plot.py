"""`kempelen lab plot`: plot the number of evaluated leaves against depth and branching factor.

The theoretical curves are b^d (minimax), the Knuth-Moore minimum of alpha-beta, and R^d, where R is
Pearl's branching factor of alpha-beta for children in random order.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from math import nan
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from agent.games.random_tree import RandomTree
from agent.games.tree import evaluate
from agent.io.message import Message
from agent.search import algorithm_spec, tree_complexity
from agent.search.algorithm_spec import AlgorithmSpec
from agent.search.catalogue import algorithms as catalogue
from agent.search.tracing import Evaluated, Event, traced
from agent.search.tree_cursor import Label
from kempelen.console import pictures
from kempelen.console.argument_types import integer, positive_int
from kempelen.console.terminal import with_progress
from kempelen.lab import language
from kempelen.lab.problems import SearchProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Maximum number of leaves of a tree. On larger trees, the slower algorithms take minutes.
MAX_LEAVES = 100_000
MARKERS = "osD^v<>pPX*hd"
THEORY_CURVES = (
    ("b^d", tree_complexity.all_leaves, ":"),
    ("Knuth-Moore", tree_complexity.min_leaves, "--"),
    (
        "R^d (Pearl)",
        lambda b, d: _valid_estimate(tree_complexity.effective_branching_factor(b) ** d, b, d),
        "-.",
    ),
)


def _valid_estimate(leaves: float, branching: int, depth: int) -> float:
    """Return `leaves`, or NaN if it is below the Knuth-Moore minimum.

    Pearl's asymptotic formula may underestimate the leaves of shallow trees.
    """
    return leaves if leaves >= tree_complexity.min_leaves(branching, depth) else nan


@dataclass(frozen=True)
class Point:
    """The mean number of leaves that an algorithm evaluates in trees of one size."""

    algorithm: str
    branching: int
    depth: int
    leaves: float


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--algorithm", metavar="A[,B...]",
        help="algorithms to plot, separated by commas (default: all exact ones)",
    )  # fmt: skip
    parser.add_argument(
        "--branching", type=positive_int, default=4, metavar="B",
        help="maximum branching factor (default: 4)",
    )  # fmt: skip
    parser.add_argument(
        "--depth", type=positive_int, default=5, metavar="D", help="maximum depth (default: 5)"
    )
    parser.add_argument(
        "--trees", type=positive_int, default=10, metavar="N",
        help="trees per data point (default: 10)",
    )  # fmt: skip
    parser.add_argument(
        "--distinct", action="store_true",
        help="count each leaf once, even if it is evaluated again",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=integer, default=0, help="random seed of the trees (default: 0)"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE",
        help=Message("write the picture to FILE (suffix: {})", ", ".join(pictures.SUFFIXES)),
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the points as one JSON object")


def run(arguments: Namespace) -> int:
    b, d = arguments.branching, arguments.depth
    if arguments.output is None and not arguments.json:
        raise ValueError("nothing to do (use -o FILE or --json)")
    if arguments.output is not None:
        pictures.check_picture(arguments.output)
    if b < 2 or b**d > MAX_LEAVES:
        raise ValueError(
            Message(
                "trees with branching factor {} and depth {}: cannot be plotted (expected a "
                "branching factor of at least 2 and at most {} leaves)",
                b,
                d,
                MAX_LEAVES,
            )
        )
    specs = _parse_algorithms(arguments.algorithm)
    shapes = sorted({(b, depth) for depth in range(1, d + 1)} | {(n, d) for n in range(2, b + 1)})
    tasks = [(algorithm, *shape) for shape in shapes for algorithm in specs]
    measurements = (
        Point(algorithm.text, n, depth, fmean(_leaves(algorithm, n, depth, arguments)))
        for algorithm, n, depth in tasks
    )
    translate = language.translator(arguments.lang)
    points = list(with_progress(measurements, len(tasks), translate("searching")))
    if arguments.json:
        print(json.dumps({"trees": arguments.trees, "points": [asdict(point) for point in points]}))
    if arguments.output is not None:
        pictures.save(figure(points, b, d, translate), arguments.output)
        if not arguments.json:
            print(arguments.output)
    return 0


def figure(
    points: list[Point], branching: int, depth: int, translate: language.Translator
) -> Figure:
    from matplotlib.figure import Figure

    points = _merge_equal(points)
    made = Figure(figsize=(13, 5.5), layout="constrained")
    by_depth, by_branching = made.subplots(1, 2, sharey=True)
    at_branching = [point for point in points if point.branching == branching]
    at_depth = [point for point in points if point.depth == depth]
    _draw_panel(by_depth, at_branching, "depth")
    _draw_panel(by_branching, at_depth, "branching")
    by_depth.set(xlabel=f"{translate('depth')} d  (b = {branching})", ylabel=translate("leaves"))
    by_branching.set(xlabel=f"{translate('branching')} b  (d = {depth})")
    handles, labels = by_depth.get_legend_handles_labels()
    made.legend(handles, labels, loc="outside right center", frameon=False, fontsize=9)
    return made


def _merge_equal(points: list[Point]) -> list[Point]:
    leaves: dict[str, list[float]] = {}
    for point in points:
        leaves.setdefault(point.algorithm, []).append(point.leaves)
    groups: dict[tuple[float, ...], list[str]] = {}
    for name, counts in leaves.items():
        groups.setdefault(tuple(counts), []).append(name)
    first = {names[0]: "\n= ".join(names) for names in groups.values()}
    return [
        replace(point, algorithm=first[point.algorithm])
        for point in points
        if point.algorithm in first
    ]


def _draw_panel(axes: Axes, points: list[Point], key: str) -> None:
    from matplotlib import colormaps
    from matplotlib.ticker import MaxNLocator

    lines: dict[str, list[Point]] = {}
    for point in points:
        lines.setdefault(point.algorithm, []).append(point)
    colors = colormaps["tab20"]
    for index, name in enumerate(sorted(lines, key=lambda name: -lines[name][-1].leaves)):
        line = sorted(lines[name], key=lambda point: getattr(point, key))
        axes.plot(
            [getattr(point, key) for point in line],
            [point.leaves for point in line],
            label=name,
            color=colors(sorted(lines).index(name) % 20),
            marker=MARKERS[index % len(MARKERS)],
            markersize=5,
            linewidth=1.3,
        )
    line = sorted(next(iter(lines.values())), key=lambda point: getattr(point, key))
    for name, law, style in THEORY_CURVES:
        axes.plot(
            [getattr(point, key) for point in line],
            [law(point.branching, point.depth) for point in line],
            label=name,
            color="black",
            linestyle=style,
            linewidth=1.8,
            zorder=0,
        )
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(visible=True, which="both", color="#e5e7eb", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def _parse_algorithms(text: str | None) -> list[AlgorithmSpec]:
    if text:
        return [algorithm_spec.parse(each) for each in text.split(",")]
    return [AlgorithmSpec(name, kind, {}) for name, kind in catalogue().items() if kind.exact]


def _leaves(
    algorithm: AlgorithmSpec, branching: int, depth: int, arguments: Namespace
) -> Iterator[int]:
    for index in range(arguments.trees):
        game: Any = RandomTree(branching, depth, arguments.seed + index)
        problem = SearchProblem("random-tree", game, evaluate, depth, float(branching**depth))
        search = problem.search(algorithm, seed=arguments.seed)
        evaluated: set[Label] = set()

        def record(event: Event, evaluated: set[Label] = evaluated) -> None:
            if isinstance(event, Evaluated):
                evaluated.add(event.label)

        if arguments.distinct:
            traced(search, record)
        search.search(game, depth)
        yield len(evaluated) if arguments.distinct else search.counts.leaves
