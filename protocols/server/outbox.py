"""What a session has to say and its client has not read yet: bounded, and nobody waits for it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable

# So many bytes may wait to be read; a client who leaves more is dropped.
MOST_UNREAD = 4 << 20
# With more, no further line of the client is acted on.
MUCH_UNREAD = 256 << 10


class Outbox:
    """Lines on their way from any thread to the loop that writes them.

    overflow: called in the loop when more than `most` bytes wait; from then on none are taken.
    """

    def __init__(self, overflow: Callable[[], None], most: int = MOST_UNREAD) -> None:
        self.overflown = False
        self._overflow = overflow
        self._loop = asyncio.get_running_loop()
        self._most = most
        self._lock = threading.Lock()
        self._lines: deque[bytes] = deque()
        self._unread = 0
        self._closed = False
        self._woken = False
        self._changed = asyncio.Event()
        self._room = asyncio.Event()

    def send(self, line: str) -> None:
        """Take a line, without its end. From any thread; never waits, never raises."""
        data = line.encode(errors="backslashreplace")
        with self._lock:
            if self._closed or self.overflown:
                return
            if self._unread + len(data) > self._most:
                self.overflown = True
                self._lines.clear()
                self._call(self._overflow)
            else:
                self._unread += len(data) + 1
                self._lines.append(data)
            woken, self._woken = self._woken, True
        if not woken:
            self._call(self._changed.set)

    def close(self) -> None:
        """Take no more lines: `take` gives what is there, then nothing. From any thread."""
        with self._lock:
            self._closed = True
            self._woken = True
        self._call(self._changed.set)

    async def take(self) -> list[bytes]:
        """Wait for lines, and return all that are there; none at the end."""
        while True:
            with self._lock:
                lines = list(self._lines)
                self._lines.clear()
                self._woken = False
                over = self._closed or self.overflown
                self._changed.clear()
            if lines or over:
                return lines
            await self._changed.wait()

    def written(self, lines: list[bytes]) -> None:
        """Take note that lines which were taken have left."""
        with self._lock:
            self._unread -= sum(len(line) + 1 for line in lines)
        self._room.set()

    async def room(self) -> None:
        """Wait until not much is unread: who asks without reading is not answered more."""
        while self._unread > MUCH_UNREAD and not self.overflown:
            self._room.clear()
            await self._room.wait()

    def _call(self, function: Callable[[], object]) -> None:
        """Have the loop call a function, unless it has ended."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function)
