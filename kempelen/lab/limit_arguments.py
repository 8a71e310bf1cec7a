"""Limits of a lab's search: nodes and time."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import AbstractContextManager, nullcontext
from math import inf
from typing import Any

from agent.search.depth_schedule import time_limit
from agent.search.search import Search
from kempelen.console.argument_types import positive_int, positive_seconds


def configure(parser: ArgumentParser) -> None:
    """Declare the limits."""
    parser.add_argument(
        "--nodes", type=positive_int, metavar="N", help="the most nodes of a search"
    )
    parser.add_argument(
        "--movetime", type=positive_seconds, metavar="S", help="the most seconds of a search"
    )


def node_limit_from(arguments: Namespace) -> float:
    """Return the most nodes."""
    return inf if arguments.nodes is None else float(arguments.nodes)


def time_limited(search: Search[Any], limit: float | None) -> AbstractContextManager[None]:
    """Stop the search that runs inside the block after so many seconds."""
    return nullcontext() if limit is None else time_limit(search, limit)
