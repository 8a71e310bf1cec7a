"""`kempelen bench`: search a fixed set of positions and print nodes and speed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kempelen.console.argument_types import positive_int
from kempelen.console.terminal import load_kernels, print_error, with_progress

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--depth", type=positive_int, help="search depth in plies")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Namespace) -> int:
    """Print `N nodes M nps` as the last line. Return 2 if the evaluation cannot be loaded."""
    load_kernels()
    from agent.chess.search import bench
    from agent.evaluation import EvaluationError

    depth = arguments.depth or bench.DEPTH
    nodes, seconds = 0, 0.0
    try:
        for info in with_progress(bench.run(depth), len(bench.POSITIONS), "searching"):
            nodes += info.nodes
            seconds += info.time
    except EvaluationError as error:
        print_error(error, "kempelen bench")
        return 2
    speed = int(nodes / seconds)
    if arguments.json:
        print(json.dumps({"depth": depth, "nodes": nodes, "seconds": seconds, "nps": speed}))
    else:
        print(f"{nodes} nodes {speed} nps")
    return 0
