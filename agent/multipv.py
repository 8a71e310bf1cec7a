"""Ordering of principal variations (multipv)."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from agent.limits import Info

Move = TypeVar("Move")


def unique_first_moves(lines: Iterable[Info[Move]]) -> Iterator[Info[Move]]:
    """Yield the lines, but only the first line with each first move."""
    seen: set[tuple[Move, ...]] = set()
    for line in lines:
        if line.pv[:1] not in seen:
            seen.add(line.pv[:1])
            yield line


def merge_interrupted(lines: Iterable[Info[Move]], max_lines: int) -> Iterator[Info[Move]]:
    """Merge the lines of an interrupted iteration, followed by those of the previous iteration.

    Yield at most `max_lines` lines with distinct first moves, numbered from 1. All lines except the
    first are marked as incomplete.
    """
    for rank, line in enumerate(islice(unique_first_moves(lines), max_lines), 1):
        complete = line.complete if rank == 1 else False
        yield replace(line, multipv=rank, complete=complete)
