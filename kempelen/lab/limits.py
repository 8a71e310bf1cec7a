"""Limits of a lab's search: nodes and time."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from threading import Timer
from typing import Any

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


@contextmanager
def in_time(search: Search[Any], seconds: float | None) -> Iterator[None]:
    """Stop the search that runs meanwhile when its time is over."""
    if seconds is None:
        yield
        return

    def stop() -> None:
        search.stopped = True

    timer = Timer(seconds, stop)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < inf:
        raise ArgumentTypeError(f"expected seconds above 0, not {text!r}")
    return seconds
