"""What a program prints, with the time at which it came, whatever else this process does then.

A match has work of its own: rules, ratings, a ledger, a display. An event loop that is busy with
one game hears late of a move in another; a thread for each program does not, so that the time of
that work is nobody's thinking time.
"""

import asyncio
import contextlib
import os
import sys
import threading
import time
from collections import deque

CHUNK_SIZE = 64 * 1024
# So many chunks are read ahead of what is asked for; a program that prints more waits for us.
READ_AHEAD_CHUNKS = 2
# How long other Python code may keep such a thread from looking at the clock, in seconds.
SWITCH_INTERVAL = 0.001


class PipeReader:
    """Reads a pipe in a thread, for the event loop in which this was made."""

    def __init__(self, source: int) -> None:
        """Read from the file descriptor `source`, and close it at the end."""
        self._source = source
        self._loop = asyncio.get_running_loop()
        self._chunks: deque[tuple[bytes, float]] = deque()
        self._data_available = asyncio.Event()
        self._free_slots = threading.Semaphore(READ_AHEAD_CHUNKS)
        self._closed = False
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_INTERVAL))
        threading.Thread(target=self._read, name="arrivals", daemon=True).start()

    async def read_chunk(self) -> tuple[bytes, float]:
        """Return what came next and when, by `time.perf_counter`; at the end b"", again and again.

        Nothing is lost when this is cancelled.
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
        """Have nothing more read, as soon as what is being waited for comes."""
        self._closed = True
        self._free_slots.release()

    def _read(self) -> None:
        chunk = b"more"
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
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
