from __future__ import annotations

import threading
import time

# How long a call of user code may continue after the search should have ended.
GRACE_PERIOD_S = 0.03
# Maximum number of abandoned threads. Above it, user code is not called until some of them end.
MAX_ABANDONED = 2


class AbandonedThreads:
    """Tracks the threads that hang in user code, and the progress of the current search."""

    def __init__(self) -> None:
        self._threads: list[threading.Thread] = []
        self._last_progress: tuple[int, float] | None = None  # nodes, and time of their last change

    def start_search(self) -> None:
        """Start to monitor a search, and drop threads that have ended."""
        self._last_progress = None
        self._threads = [thread for thread in self._threads if thread.is_alive()]

    def add(self, thread: threading.Thread) -> None:
        self._threads.append(thread)

    def clear(self) -> None:
        self._threads = []

    def count_exceeds(self, maximum: int) -> bool:
        return len(self._threads) > maximum

    def is_stalled(self, nodes: int, seconds: float) -> bool:
        """Return whether `nodes` was the same in all calls during the last `seconds`."""
        now = time.monotonic()
        if self._last_progress is None or self._last_progress[0] != nodes:
            self._last_progress = nodes, now
        return now - self._last_progress[1] >= seconds
