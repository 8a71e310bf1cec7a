"""What a session has to say and its client has not read yet: bounded, and nobody waits for it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable

# So many bytes may wait to be read; a client who leaves more is dropped.
MAX_UNSENT_BYTES = 4 << 20
# With more, no further line of the client is acted on.
HIGH_WATER_MARK = 256 << 10


class SendQueue:
    """Lines on their way from any thread to the loop that writes them.

    overflow: called in the loop when more than `most` bytes wait; from then on none are taken.
    """

    def __init__(self, on_overflow: Callable[[], None], max_bytes: int = MAX_UNSENT_BYTES) -> None:
        self.overflowed = False
        self._on_overflow = on_overflow
        self._loop = asyncio.get_running_loop()
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._lines: deque[bytes] = deque()
        self._unsent = 0
        self._closed = False
        self._wake_pending = False
        self._available = asyncio.Event()
        self._drained = asyncio.Event()

    def send(self, line: str) -> None:
        """Take a line, without its end. From any thread; never waits, never raises."""
        data = line.encode(errors="backslashreplace")
        with self._lock:
            if self._closed or self.overflowed:
                return
            if self._unsent + len(data) > self._max_bytes:
                self.overflowed = True
                self._lines.clear()
                self._call_in_loop(self._on_overflow)
            else:
                self._unsent += len(data) + 1
                self._lines.append(data)
            woken, self._wake_pending = self._wake_pending, True
        if not woken:
            self._call_in_loop(self._available.set)

    def close(self) -> None:
        """Take no more lines: `take` gives what is there, then nothing. From any thread."""
        with self._lock:
            self._closed = True
            self._wake_pending = True
        self._call_in_loop(self._available.set)

    async def get(self) -> list[bytes]:
        """Wait for lines, and return all that are there; none at the end."""
        while True:
            with self._lock:
                lines = list(self._lines)
                self._lines.clear()
                self._wake_pending = False
                over = self._closed or self.overflowed
                self._available.clear()
            if lines or over:
                return lines
            await self._available.wait()

    def mark_sent(self, lines: list[bytes]) -> None:
        """Take note that lines which were taken have left."""
        with self._lock:
            self._unsent -= sum(len(line) + 1 for line in lines)
        self._drained.set()

    async def drain(self) -> None:
        """Wait until not much is unread: who asks without reading is not answered more."""
        while self._unsent > HIGH_WATER_MARK and not self.overflowed:
            self._drained.clear()
            await self._drained.wait()

    def _call_in_loop(self, function: Callable[[], object]) -> None:
        """Have the loop call a function, unless it has ended."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function)
