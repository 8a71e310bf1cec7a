"""Limits of a lab's search: nodes and time."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from contextlib import AbstractContextManager, nullcontext
from math import inf
from typing import Any

from agent.search.horizon import time_limit
from agent.search.search import Search
from kempelen.numbers import positive


def configure(parser: ArgumentParser) -> None:
    """Declare the limits."""
    parser.add_argument("--nodes", type=positive, metavar="N", help="the most nodes of a search")
    parser.add_argument(
        "--movetime", type=_seconds, metavar="S", help="the most seconds of a search"
    )


def node_limit(arguments: Namespace) -> float:
    """Return the most nodes."""
    return inf if arguments.nodes is None else float(arguments.nodes)


def in_time(search: Search[Any], seconds: float | None) -> AbstractContextManager[None]:
    """Stop the search that runs inside the block when its time is over."""
    return nullcontext() if seconds is None else time_limit(search, seconds)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < inf:
        raise ArgumentTypeError(f"expected seconds above 0, not {text!r}")
    return seconds
