from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable

# A client with more unread output than this is disconnected.
MAX_UNSENT_BYTES = 4 << 20
# While more output than this is unread, no further lines of the client are handled.
HIGH_WATER_MARK = 256 << 10


class SendQueue:
    """A bounded queue of lines from any thread to the event loop that writes them.

    Above `max_bytes` unsent bytes, the queue closes and calls `on_overflow` in the event loop.
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
        """Queue a line without its newline. Thread-safe. Never blocks or raises an exception."""
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
        """Accept no more lines. Queued lines can still be read. Thread-safe."""
        with self._lock:
            self._closed = True
            self._wake_pending = True
        self._call_in_loop(self._available.set)

    async def get(self) -> list[bytes]:
        """Wait for lines and return all of them. Return [] if the queue is closed and empty."""
        while True:
            with self._lock:
                lines = list(self._lines)
                self._lines.clear()
                self._wake_pending = False
                closed = self._closed or self.overflowed
                self._available.clear()
            if lines or closed:
                return lines
            await self._available.wait()

    def mark_sent(self, lines: list[bytes]) -> None:
        """Record that lines were written, so that they no longer count as unsent."""
        with self._lock:
            self._unsent -= sum(len(line) + 1 for line in lines)
        self._drained.set()

    async def drain(self) -> None:
        """Wait until at most HIGH_WATER_MARK bytes are unsent or the queue has overflowed."""
        while self._unsent > HIGH_WATER_MARK and not self.overflowed:
            self._drained.clear()
            await self._drained.wait()

    def _call_in_loop(self, function: Callable[[], object]) -> None:
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function)
