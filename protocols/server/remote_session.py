"""One session over the network: a wire, a protocol, and what is between them.

Lines are acted on in order, in a thread of a pool, so that the loop goes on whatever a line does;
a session without work has no thread. What the protocol says waits in an Outbox, which never keeps
the thread that says it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import Executor

from protocols.pipes import GLANCE, GRACE, Served
from protocols.server.outbox import Outbox
from protocols.server.wire import Wire, WireLostError
from protocols.tasks import cancel_all

# Makes the protocol of a session, which says by the function what no line asks for.
Maker = Callable[[Callable[[str], None]], Served]

# How long a client who has closed its side is answered, and how long one who is told that the
# session ends has to read that, in seconds.
LAST_ANSWERS = 10.0
LAST_WORDS = 2.0


class RemoteSession:
    """Carries lines between a wire and a protocol that `make` makes, until one of them ends."""

    def __init__(self, wire: Wire, make: Maker, pool: Executor) -> None:
        self.wire = wire
        self.lines = 0
        self._make = make
        self._pool = pool
        self._outbox = Outbox()
        self._loop = asyncio.get_running_loop()
        self._told: asyncio.Future[str] = self._loop.create_future()

    def end(self, reason: str) -> None:
        """End the session: its client is told why."""
        if not self._told.done():
            self._told.set_result(reason)

    async def run(self) -> str:
        """Serve until the session ends, and return why it did."""
        protocol = await self._loop.run_in_executor(self._pool, self._make, self._outbox.send)
        writing = asyncio.create_task(self._write())
        reading = asyncio.create_task(self._read(protocol))
        try:
            await asyncio.wait({writing, reading, self._told}, return_when=asyncio.FIRST_COMPLETED)
            reason = await self._ended(protocol, writing, reading)
        finally:
            await cancel_all([reading])
            await self._loop.run_in_executor(self._pool, protocol.close, GRACE)
            self._outbox.close()
            await self._finish(writing)
        return reason

    async def _ended(
        self, protocol: Served, writing: asyncio.Task[str], reading: asyncio.Task[str]
    ) -> str:
        """Return why the session ends; answer what is to be answered still, and say it."""
        if writing.done():
            return writing.result()
        if self._told.done():
            self._outbox.send(f"refused {self._told.result()}")
            return self._told.result()
        reason = reading.result()
        if reason == "end of input":
            until = self._loop.time() + LAST_ANSWERS
            while not writing.done() and self._loop.time() < until:
                if await self._loop.run_in_executor(self._pool, protocol.drain, GLANCE):
                    break
        return reason

    async def _finish(self, writing: asyncio.Task[str]) -> None:
        """Let the client read what is left to say, in a moment's time, and close the wire."""
        await asyncio.wait({writing}, timeout=LAST_WORDS)
        if writing.done() and writing.result() == "":
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.wire.close(), LAST_WORDS)
        await cancel_all([writing])
        self.wire.abort()

    async def _read(self, protocol: Served) -> str:
        """Have the protocol act on lines until it has finished, or none come; return which."""
        try:
            while received := await self.wire.receive():
                for line in received:
                    self.lines += 1
                    await self._loop.run_in_executor(self._pool, self._act, protocol, line)
                    if protocol.finished:
                        return "quit"
                    await self._outbox.room()
        except WireLostError:
            return "lost"
        return "end of input"

    def _act(self, protocol: Served, line: str | None) -> None:
        replies = protocol.overlong_line() if line is None else protocol.handle_line(line)
        for reply in replies:
            self._outbox.send(reply)

    async def _write(self) -> str:
        """Write what there is to say until the end; return what went wrong, "" if nothing did."""
        try:
            while lines := await self._outbox.take():
                await self.wire.write(lines)
                self._outbox.written(lines)
        except WireLostError:
            return "lost"
        return "unread" if self._outbox.overflown else ""
