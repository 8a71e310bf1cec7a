from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable

# Each waiting line counts with this many bytes more than its length.
LINE_OVERHEAD_BYTES = 64


class ReceiveQueue:
    """The received lines of a session that are not yet handled. An overlong line is None.

    A session that reads ahead notices the end of its connection even while it handles a line.
    Iterating waits for lines, and ends after `end` when no line is left.
    """

    def __init__(self, max_bytes: int) -> None:
        self.ended = False
        self._max_bytes = max_bytes
        self._lines: deque[str | None] = deque()
        self._bytes = 0
        self._changed = asyncio.Event()

    @property
    def full(self) -> bool:
        return self._bytes > self._max_bytes

    def put(self, lines: Iterable[str | None]) -> None:
        """Add lines. The caller should not read further lines while the queue is full."""
        for line in lines:
            self._lines.append(line)
            self._bytes += _size(line)
        self._changed.set()

    def end(self) -> None:
        self.ended = True
        self._changed.set()

    def __aiter__(self) -> ReceiveQueue:
        return self

    async def __anext__(self) -> str | None:
        while not self._lines:
            if self.ended:
                raise StopAsyncIteration
            self._changed.clear()
            await self._changed.wait()
        line = self._lines.popleft()
        self._bytes -= _size(line)
        return line


def _size(line: str | None) -> int:
    return LINE_OVERHEAD_BYTES + len(line or "")
