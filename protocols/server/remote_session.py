"""One session over the network: a wire, a protocol, and what is between them.

Lines are acted on in order, in a thread of a pool, so that the loop goes on whatever a line does;
a session without work has no thread. What the protocol says waits in an Outbox, which never keeps
the thread that says it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from protocols.pipes import GLANCE, GRACE, Served
from protocols.server.limits import Bucket, ServerLimits
from protocols.server.metrics import Metrics
from protocols.server.outbox import Outbox
from protocols.server.wire import Wire, WireLostError, part
from protocols.tasks import cancel_all

# Makes the protocol of a session, which says by the function what no line asks for.
Maker = Callable[[Callable[[str], None]], Served]

# How long a client who has closed its side is answered, in seconds.
LAST_ANSWERS = 10.0
# How long the last words may take to leave, in seconds.
LAST_WORDS = 2.0
# How long threads may take to end that nobody waits for, as one that loads a kernel, in seconds.
SETTLING = 30.0
# So much is written at once, in bytes, and whoever has not read it after so many seconds is gone.
PIECE = 64 << 10
STALLED = 60.0


@dataclass(frozen=True, slots=True)
class _Told:
    """Why a session is to end: a word for us, and what the client is told."""

    kind: str
    reason: str
    grace: float


class RemoteSession:
    """Carries lines between a wire and a protocol, until one of them ends or a limit is reached.

    make: makes the protocol, whose name is `name`. first: lines that have come already.
    """

    def __init__(
        self,
        wire: Wire,
        name: str,
        make: Maker,
        pool: Executor,
        limits: ServerLimits,
        metrics: Metrics,
        first: Sequence[str | None] = (),
    ) -> None:
        self.name = name
        self.lines = 0
        self._wire = wire
        self._make = make
        self._pool = pool
        self._limits = limits
        self._metrics = metrics
        self._first = list(first)
        self._loop = asyncio.get_running_loop()
        self._began = self._active = self._loop.time()
        self._bucket = Bucket(limits.lines_a_second, self._began)
        self._outbox = Outbox(wire.abort)
        self._told: asyncio.Future[_Told] = self._loop.create_future()
        self._acting: asyncio.Future[None] | None = None
        self._protocol: Served | None = None
        self._ended = True

    def end(self, kind: str, reason: str, grace: float = 0.0) -> None:
        """End the session: what was asked is answered for so many seconds, the client told why."""
        if not self._told.done():
            self._told.set_result(_Told(kind, reason, grace))

    async def run(self) -> str:
        """Serve until the session ends, and return why it did, in a word or two.

        The wire stays open, for whoever says a last word.
        """
        protocol = await self._loop.run_in_executor(self._pool, self._make, self._outbox.send)
        self._protocol, self._ended = protocol, False
        writing = asyncio.create_task(self._write())
        reading = asyncio.create_task(self._read(protocol))
        try:
            await self._watch(writing, reading)
            reason = await self._conclude(protocol, writing, reading)
        finally:
            await cancel_all([reading])
            closing = self._loop.run_in_executor(self._pool, protocol.close, GRACE)
            self._ended = await closing
            self._outbox.close()
            await asyncio.wait({writing}, timeout=LAST_WORDS)
            await cancel_all([writing])
        return reason

    async def _watch(self, writing: asyncio.Task[str], reading: asyncio.Task[str]) -> None:
        """Wait until one side has ended, or a limit of time is reached."""
        limits = self._limits
        ends: set[asyncio.Future[Any]] = {writing, reading, self._told}
        while not (writing.done() or reading.done() or self._told.done()):
            now = self._loop.time()
            left = self._began + limits.longest - now
            quiet = self._active + limits.idle - now
            if left <= 0:
                self.end("longest", f"a session lasts at most {limits.longest:g} seconds")
            elif quiet <= 0:
                self.end("idle", f"nothing was asked or told for {limits.idle:g} seconds")
            else:
                await asyncio.wait(
                    ends, timeout=min(left, quiet), return_when=asyncio.FIRST_COMPLETED
                )

    async def _conclude(
        self, protocol: Served, writing: asyncio.Task[str], reading: asyncio.Task[str]
    ) -> str:
        """Answer what is to be answered still, say why it ends where that is news; return why."""
        if writing.done():
            return writing.result()
        if self._told.done():
            told = self._told.result()
            await cancel_all([reading])
            await self._drain(protocol, writing, told.grace)
            self._outbox.send(f"refused {told.reason}")
            return told.kind
        if reading.result() in ("end of input", "quit"):
            await self._drain(protocol, writing, LAST_ANSWERS)
        return reading.result()

    async def _drain(self, protocol: Served, writing: asyncio.Task[str], seconds: float) -> None:
        until = self._loop.time() + seconds
        while (left := until - self._loop.time()) > 0 and not writing.done():
            glance = min(left, GLANCE)
            if await self._loop.run_in_executor(self._pool, protocol.drain, glance):
                return

    async def settled(self) -> bool:
        """Wait for threads that did not end with the session; return whether all have, in time."""
        ends = [self._acting] if self._acting is not None else []
        if self._protocol is not None and not self._ended:
            closing = self._loop.run_in_executor(self._pool, self._protocol.close, SETTLING)
            self._ended = await closing
        if ends:
            await asyncio.wait(ends, timeout=SETTLING)
        return self._ended and all(each.done() for each in ends)

    async def _read(self, protocol: Served) -> str:
        """Have the protocol act on lines until it has finished, or none come; return which."""
        received, self._first = self._first, []
        try:
            while True:
                for line in received:
                    await self._take(protocol, line)
                    if protocol.finished:
                        return "quit"
                received = await self._wire.receive()
                if not received:
                    return "end of input"
        except WireLostError as error:
            return str(error)

    async def _take(self, protocol: Served, line: str | None) -> None:
        """Act on one line, in its turn."""
        self._active = self._loop.time()
        if (delay := self._bucket.wait(self._active)) > 0:
            self._metrics.count("delayed_lines")
            await asyncio.sleep(delay)
        self.lines += 1
        self._metrics.count("lines", self.name)
        if line is None:
            self._metrics.count("overlong_lines")
        self._acting = self._loop.run_in_executor(self._pool, self._act, protocol, line)
        await asyncio.shield(self._acting)
        await self._outbox.room()

    def _act(self, protocol: Served, line: str | None) -> None:
        replies = protocol.overlong_line() if line is None else protocol.handle_line(line)
        for reply in replies:
            self._outbox.send(reply)

    async def _write(self) -> str:
        """Write what there is to say until the end; return what went wrong, "" if nothing did."""
        try:
            while lines := await self._outbox.take():
                for some in part(lines, PIECE):
                    async with asyncio.timeout(STALLED):
                        await self._wire.write(some)
                    self._outbox.written(some)
                    self._active = self._loop.time()
        except WireLostError as error:
            return "unread" if self._outbox.overflown else str(error)
        except TimeoutError:
            self._wire.abort()
            return "unread"
        return "unread" if self._outbox.overflown else ""
