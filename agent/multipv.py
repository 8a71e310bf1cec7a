"""Lines of play as they are told: the best first, each first move once."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from agent.limits import Info

Move = TypeVar("Move")


def unique_first_moves(lines: Iterable[Info[Move]]) -> Iterator[Info[Move]]:
    """Generate the lines, of those that begin with the same move the first."""
    known: set[tuple[Move, ...]] = set()
    for line in lines:
        if line.pv[:1] not in known:
            known.add(line.pv[:1])
            yield line


def merge_interrupted(lines: Iterable[Info[Move]], max_lines: int) -> Iterator[Info[Move]]:
    """Generate so many of the lines of an iteration that was cut short, then of the one before.

    They are numbered anew; the first stays complete, if it was searched to its end.
    """
    for number, line in enumerate(islice(unique_first_moves(lines), max_lines), 1):
        complete = line.complete if number == 1 else False
        yield replace(line, multipv=number, complete=complete)
