"""Line scheduler, which decides when the lines of network sessions are handled.

Python runs one thread at a time. Whenever a thread needs the interpreter, it waits up to the switch
interval for each thread that is busy. So each client has a small share of the processing time. Long
lines, and lines beyond this share, are handled in turns, in slices. The client that has used the
least time goes first, and among its sessions the one that has used the least time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from protocols.current_line import handling
from protocols.server.limits import MAX_TRACKED_CLIENTS, RateLimiter

# Lines up to this length are handled at once while the client's share lasts: 400 half-moves.
MAX_SHORT_LINE = 2048
# A client's share of the processing time, in milliseconds per second.
SHARE_MS = 200.0
# Taken from the share until the cost of a line is known. This also limits how many lines of a
# client are handled at once.
RESERVED_MS = 50.0
# Maximum number of lines that are handled at once within the shares of all clients.
MAX_AT_ONCE = 4
# A long line yields its turn after this time.
SLICE_S = 0.01
# Minimum cost of a line, which includes its time in the event loop.
MIN_COST_MS = 0.5
# Time without costly lines after each slice, as a fraction of its processing time, and the maximum.
PAUSE_FACTOR, MAX_PAUSE_S = 0.5, 0.02
# After this time, others no longer wait for a line. A user's game may never return.
MAX_TURN_S = 2.0


class LineScheduler:
    """The line scheduler of a server. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shares = RateLimiter(SHARE_MS, 1.0)
        self._at_once = 0  # lines that are handled within the shares
        self._waiting: list[_Line] = []
        self._current: _Line | None = None
        # Seconds in turns by client, as in a fair queue: a new or returning client starts with the
        # time of the client that was served last.
        self._used: dict[Hashable, float] = {}
        self._virtual_time = 0.0

    @property
    def waiting(self) -> int:
        """The number of lines that wait for their turn."""
        return len(self._waiting)

    def request(self, line: _Line) -> None:
        """Wait until a line may be handled, or its session has ended."""
        client, now = line.session.client, time.monotonic()
        with self._lock:
            if line.session.has_ended:
                return
            line.reserved = (
                line.length <= MAX_SHORT_LINE
                and self._at_once < MAX_AT_ONCE
                and self._shares.try_take(client, now, RESERVED_MS) == 0.0
            )
            if line.reserved:
                self._at_once += 1
                return
            self._used[client] = max(self._used.pop(client, 0.0), self._virtual_time)
            if len(self._used) > MAX_TRACKED_CLIENTS:
                del self._used[next(iter(self._used))]
            self._waiting.append(line)
            self._grant()
        while not line.granted.wait(MAX_TURN_S):
            with self._lock:
                self._grant()

    def release(self, line: _Line, seconds: float) -> None:
        """Charge a line's processing time to its client, and handle the next line."""
        now, session = time.monotonic(), line.session
        with self._lock:
            if line.reserved:
                self._at_once -= 1
                cost = max(1000 * seconds, MIN_COST_MS) - RESERVED_MS
                self._shares.reserve(session.client, now, cost)
            elif line.turn_since is not None:
                used = now - line.turn_since
                session.used += used
                self._used[session.client] = self._used.get(session.client, 0.0) + used
                if self._current is line:
                    self._current = None
                    self._grant()

    def cancel(self, session: SessionLines) -> None:
        """End the waiting of a session's lines."""
        with self._lock:
            session.has_ended = True
            for line in [line for line in self._waiting if line.session is session]:
                self._waiting.remove(line)
                line.granted.set()

    def _grant(self) -> None:
        now, current = time.monotonic(), self._current
        is_busy = current is not None and now - (current.turn_since or now) < MAX_TURN_S
        if is_busy or not self._waiting:
            return
        line = min(
            self._waiting,
            key=lambda line: (self._used.get(line.session.client, 0.0), line.session.used),
        )
        self._waiting.remove(line)
        self._virtual_time = max(self._virtual_time, self._used.get(line.session.client, 0.0))
        self._current, line.turn_since = line, now
        line.granted.set()


class SessionLines:
    """The lines of one session. `client` is the user name or the address, for all its sessions."""

    def __init__(self, scheduler: LineScheduler, client: Hashable) -> None:
        self.client = client
        self.used = 0.0  # seconds in turns
        self.has_ended = False
        self._scheduler = scheduler
        self.ended = threading.Event()

    def end(self) -> None:
        """Handle no more lines. Threads stop waiting for their turn."""
        self._scheduler.cancel(self)
        self.ended.set()

    @contextmanager
    def turn(self, length: int) -> Iterator[bool]:
        """Wait until a line of `length` characters may be handled, and handle it in the block.

        Yield False if the session has ended and the line must not be handled.
        """
        line = _Line(self._scheduler, self, length)
        line.start()
        try:
            with handling(line):
                yield not self.has_ended
        finally:
            line.finish(pause=True)


class _Line:
    def __init__(self, scheduler: LineScheduler, session: SessionLines, length: int) -> None:
        self._scheduler = scheduler
        self.session = session
        self.length = length
        self.reserved = False  # handled within the client's share
        self.turn_since: float | None = None  # when the line got its turn
        self.granted = threading.Event()
        self.charged = 0.0  # seconds for searches in other threads
        self._began = 0.0

    def seconds(self) -> float:
        """Return the processing time of this thread since the start."""
        return time.thread_time() - self._began

    def start(self) -> None:
        self.granted.clear()
        self.turn_since, self.reserved = None, False
        self._scheduler.request(self)
        self._began = time.thread_time()

    def finish(self, *, pause: bool = False) -> None:
        seconds = self.seconds()
        if pause and not self.reserved:
            self.session.ended.wait(min(PAUSE_FACTOR * seconds, MAX_PAUSE_S) + self.charged)
        self._scheduler.release(self, seconds + self.charged)
        self.charged = 0.0

    def yield_turn(self) -> None:
        if self.seconds() >= SLICE_S:
            self.finish(pause=True)
            self.start()
            if self.session.has_ended:
                raise ConnectionAbortedError("the session has ended")

    @contextmanager
    def suspended(self) -> Iterator[None]:
        self.finish()
        try:
            yield
        finally:
            self.length = 0  # its text has been read
            self.start()
