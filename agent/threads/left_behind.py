"""Threads that were given up in a user's code, and the signs that a search is kept by it."""

from __future__ import annotations

import threading
import time

# How long one call of a user's function may last when the search should end, before it is given
# up, in seconds.
GRACE = 0.03
# With more calls than this left behind a user's code rests until they end.
MOST_LEFT = 2


class LeftBehind:
    """What is known of a user's code that did not return.

    To know: how long a search has shown no sign of life, which threads hang in the code, and
    whether it should rest until they end.
    """

    def __init__(self) -> None:
        self._threads: list[threading.Thread] = []
        self._silent: tuple[int, float] | None = None  # nodes, and since when it is as many

    def begin(self) -> None:
        """Take note that another search begins."""
        self._silent = None
        self._threads = [thread for thread in self._threads if thread.is_alive()]

    def add(self, thread: threading.Thread) -> None:
        """Leave a thread behind."""
        self._threads.append(thread)

    def forget(self) -> None:
        """Take note that the code is another one now."""
        self._threads = []

    def are_more_than(self, most: int) -> bool:
        """Tell whether more threads than that were left behind and have not ended."""
        return len(self._threads) > most

    def is_silent(self, nodes: int, seconds: float) -> bool:
        """Tell whether the search has visited no further node for so long. Called again and again.

        nodes: how many it has visited.
        """
        now = time.monotonic()
        if self._silent is None or self._silent[0] != nodes:
            self._silent = nodes, now
        return now - self._silent[1] >= seconds
