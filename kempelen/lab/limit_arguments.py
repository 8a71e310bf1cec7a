"""Define and parse the options for node and time limits of a search."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import AbstractContextManager, nullcontext
from math import inf
from typing import Any

from agent.search.depth_schedule import time_limit
from agent.search.search import Search
from kempelen.console.argument_types import positive_int, positive_seconds


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--nodes", type=positive_int, metavar="N", help="node limit per search")
    parser.add_argument(
        "--movetime", type=positive_seconds, metavar="S", help="time limit per search in seconds"
    )


def node_limit_from(arguments: Namespace) -> float:
    """Return the value of `--nodes`, or infinity if it is not given."""
    return inf if arguments.nodes is None else float(arguments.nodes)


def time_limited(search: Search[Any], limit: float | None) -> AbstractContextManager[None]:
    """Return a context manager that stops the search after `limit` seconds, if given."""
    return nullcontext() if limit is None else time_limit(search, limit)
