"""The line of a network session that the current thread handles, if there is one.

Protocols use this module to be fair to other sessions. It does not import the server.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

# Processing time in Python that is needed around a search, in the agent's thread.
SEARCH_COST_S = 0.003


class Line(Protocol):
    """A line of a network session. The attribute `charged` is its cost in other threads."""

    charged: float

    def yield_turn(self) -> None:
        """Let other lines be handled if this line has been handled for long enough."""

    def suspended(self) -> AbstractContextManager[None]:
        """Let other lines be handled in the block."""


_thread = threading.local()


@contextmanager
def handling(line: Line) -> Iterator[None]:
    """Make `line` the current line of this thread in the block."""
    _thread.line = line
    try:
        yield
    finally:
        _thread.line = None


def charge_search() -> None:
    """Charge the current line for a search that it starts in another thread."""
    if (line := _current_line()) is not None:
        line.charged += SEARCH_COST_S


def yield_turn() -> None:
    """Yield to other lines that are waiting. Long loops should call this often.

    Raise ConnectionAbortedError if the session has ended.
    """
    if (line := _current_line()) is not None:
        line.yield_turn()


def others_may_run() -> AbstractContextManager[None]:
    """Let other lines be handled in the block, in which this thread searches or waits."""
    line = _current_line()
    return nullcontext() if line is None else line.suspended()


def _current_line() -> Line | None:
    return getattr(_thread, "line", None)
