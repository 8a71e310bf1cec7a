"""Threads that were given up in a user's code, and the signs that a search is kept by it."""

from __future__ import annotations

import threading
import time

# How long one call of a user's function may last when the search should end, before it is given
# up, in seconds.
GRACE_PERIOD_S = 0.03
# With more calls than this left behind a user's code rests until they end.
MAX_ABANDONED = 2


class AbandonedThreads:
    """What is known of a user's code that did not return.

    To know: how long a search has shown no sign of life, which threads hang in the code, and
    whether it should rest until they end.
    """

    def __init__(self) -> None:
        self._threads: list[threading.Thread] = []
        self._last_progress: tuple[int, float] | None = None  # nodes, and since when it is as many

    def start_search(self) -> None:
        """Take note that another search begins."""
        self._last_progress = None
        self._threads = [thread for thread in self._threads if thread.is_alive()]

    def add(self, thread: threading.Thread) -> None:
        """Leave a thread behind."""
        self._threads.append(thread)

    def clear(self) -> None:
        """Take note that the code is another one now."""
        self._threads = []

    def count_exceeds(self, most: int) -> bool:
        """Tell whether more threads than that were left behind and have not ended."""
        return len(self._threads) > most

    def is_stalled(self, nodes: int, seconds: float) -> bool:
        """Tell whether the search has visited no further node for so long. Called again and again.

        nodes: how many it has visited.
        """
        now = time.monotonic()
        if self._last_progress is None or self._last_progress[0] != nodes:
            self._last_progress = nodes, now
        return now - self._last_progress[1] >= seconds
