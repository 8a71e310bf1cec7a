"""Read a pipe in a thread, to measure arrival times even while the event loop is busy."""

import asyncio
import contextlib
import os
import sys
import threading
import time
from collections import deque

CHUNK_SIZE = 64 * 1024
# Number of buffered chunks. A program that prints more is blocked.
READ_AHEAD_CHUNKS = 2
# Thread switch interval in seconds, which limits the accuracy of the measured times.
SWITCH_INTERVAL = 0.001


class PipeReader:
    """Reads a file descriptor in a thread for the running event loop, and finally closes it."""

    def __init__(self, source: int) -> None:
        self._source = source
        self._loop = asyncio.get_running_loop()
        self._chunks: deque[tuple[bytes, float]] = deque()
        self._data_available = asyncio.Event()
        self._free_slots = threading.Semaphore(READ_AHEAD_CHUNKS)
        self._closed = False
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_INTERVAL))
        threading.Thread(target=self._read, name="arrivals", daemon=True).start()

    async def read_chunk(self) -> tuple[bytes, float]:
        """Return the next chunk and its arrival time on the clock `time.perf_counter`.

        The chunk is empty at the end of the input. No data is lost if the call is cancelled.
        """
        while not self._chunks:
            self._data_available.clear()
            await self._data_available.wait()
        chunk, arrived = self._chunks[0]
        if chunk:
            self._chunks.popleft()
            self._free_slots.release()
        return chunk, arrived

    def close(self) -> None:
        """Stop after the read that is in progress."""
        self._closed = True
        self._free_slots.release()

    def _read(self) -> None:
        chunk = b"more"
        with contextlib.suppress(RuntimeError):  # The loop is closed.
            while chunk:
                self._free_slots.acquire()
                try:
                    chunk = b"" if self._closed else os.read(self._source, CHUNK_SIZE)
                except OSError:
                    chunk = b""
                self._loop.call_soon_threadsafe(self._append, chunk, time.perf_counter())
        os.close(self._source)

    def _append(self, chunk: bytes, arrived: float) -> None:
        self._chunks.append((chunk, arrived))
        self._data_available.set()
