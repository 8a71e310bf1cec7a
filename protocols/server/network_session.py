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

from protocols.server.limits import ServerLimits, TokenBucket
from protocols.server.metrics import Metrics
from protocols.server.send_queue import SendQueue
from protocols.server.transport import ConnectionLostError, Transport, chunked
from protocols.stdio import POLL_INTERVAL, SHUTDOWN_TIMEOUT, ThreadedLineProtocol
from protocols.tasks import cancel_all

# Makes the protocol of a session, which says by the function what no line asks for.
ProtocolFactory = Callable[[Callable[[str], None]], ThreadedLineProtocol]

# How long a client who has closed its side is answered, in seconds.
FINAL_REPLIES_TIMEOUT_S = 10.0
# How long the last words may take to leave, in seconds.
CLOSE_TIMEOUT_S = 2.0
# How long threads may take to end that nobody waits for, as one that loads a kernel, in seconds.
THREAD_EXIT_TIMEOUT_S = 30.0
# So much is written at once, in bytes, and whoever has not read it after so many seconds is gone.
WRITE_CHUNK_BYTES = 64 << 10
WRITE_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class _EndRequest:
    """Why a session is to end: a word for us, and what the client is told."""

    code: str
    reason: str
    grace: float


class NetworkSession:
    """Carries lines between a wire and a protocol, until one of them ends or a limit is reached.

    make: makes the protocol, whose name is `name`. first: lines that have come already.
    """

    def __init__(
        self,
        wire: Transport,
        name: str,
        factory: ProtocolFactory,
        pool: Executor,
        limits: ServerLimits,
        metrics: Metrics,
        initial_lines: Sequence[str | None] = (),
    ) -> None:
        self.name = name
        self.lines = 0
        self._transport = wire
        self._factory = factory
        self._pool = pool
        self._limits = limits
        self._metrics = metrics
        self._initial_lines = list(initial_lines)
        self._loop = asyncio.get_running_loop()
        self._started = self._last_activity = self._loop.time()
        self._bucket = TokenBucket(limits.lines_a_second, self._started)
        self._send_queue = SendQueue(wire.abort)
        self._end_request: asyncio.Future[_EndRequest] = self._loop.create_future()
        self._current_call: asyncio.Future[None] | None = None
        self._protocol: ThreadedLineProtocol | None = None
        self._closed = True

    def end(self, code: str, reason: str, grace: float = 0.0) -> None:
        """End the session: what was asked is answered for so many seconds, the client told why."""
        if not self._end_request.done():
            self._end_request.set_result(_EndRequest(code, reason, grace))

    async def run(self) -> str:
        """Serve until the session ends, and return why it did, in a word or two.

        The wire stays open, for whoever says a last word.
        """
        protocol = await self._loop.run_in_executor(
            self._pool, self._factory, self._send_queue.send
        )
        self._protocol, self._closed = protocol, False
        writing = asyncio.create_task(self._write())
        reading = asyncio.create_task(self._read(protocol))
        try:
            await self._wait_for_end(writing, reading)
            reason = await self._finish(protocol, writing, reading)
        finally:
            await cancel_all([reading])
            closing = self._loop.run_in_executor(self._pool, protocol.close, SHUTDOWN_TIMEOUT)
            self._closed = await closing
            self._send_queue.close()
            await asyncio.wait({writing}, timeout=CLOSE_TIMEOUT_S)
            await cancel_all([writing])
        return reason

    async def _wait_for_end(self, writing: asyncio.Task[str], reading: asyncio.Task[str]) -> None:
        """Wait until one side has ended, or a limit of time is reached."""
        limits = self._limits
        ends: set[asyncio.Future[Any]] = {writing, reading, self._end_request}
        while not (writing.done() or reading.done() or self._end_request.done()):
            now = self._loop.time()
            left = self._started + limits.longest - now
            quiet = self._last_activity + limits.idle - now
            if left <= 0:
                self.end("longest", f"a session lasts at most {limits.longest:g} seconds")
            elif quiet <= 0:
                self.end("idle", f"nothing was asked or told for {limits.idle:g} seconds")
            else:
                await asyncio.wait(
                    ends, timeout=min(left, quiet), return_when=asyncio.FIRST_COMPLETED
                )

    async def _finish(
        self, protocol: ThreadedLineProtocol, writing: asyncio.Task[str], reading: asyncio.Task[str]
    ) -> str:
        """Answer what is to be answered still, say why it ends where that is news; return why."""
        if writing.done():
            return writing.result()
        if self._end_request.done():
            told = self._end_request.result()
            await cancel_all([reading])
            await self._drain(protocol, writing, told.grace)
            self._send_queue.send(f"refused {told.reason}")
            return told.code
        if reading.result() in ("end of input", "quit"):
            await self._drain(protocol, writing, FINAL_REPLIES_TIMEOUT_S)
        return reading.result()

    async def _drain(
        self, protocol: ThreadedLineProtocol, writing: asyncio.Task[str], seconds: float
    ) -> None:
        until = self._loop.time() + seconds
        while (left := until - self._loop.time()) > 0 and not writing.done():
            glance = min(left, POLL_INTERVAL)
            if await self._loop.run_in_executor(self._pool, protocol.drain, glance):
                return

    async def wait_for_threads(self) -> bool:
        """Wait for threads that did not end with the session; return whether all have, in time."""
        ends = [self._current_call] if self._current_call is not None else []
        if self._protocol is not None and not self._closed:
            closing = self._loop.run_in_executor(
                self._pool, self._protocol.close, THREAD_EXIT_TIMEOUT_S
            )
            self._closed = await closing
        if ends:
            await asyncio.wait(ends, timeout=THREAD_EXIT_TIMEOUT_S)
        return self._closed and all(each.done() for each in ends)

    async def _read(self, protocol: ThreadedLineProtocol) -> str:
        """Have the protocol act on lines until it has finished, or none come; return which."""
        received, self._initial_lines = self._initial_lines, []
        try:
            while True:
                for line in received:
                    await self._process_line(protocol, line)
                    if protocol.finished:
                        return "quit"
                received = await self._transport.receive()
                if not received:
                    return "end of input"
        except ConnectionLostError as error:
            return str(error)

    async def _process_line(self, protocol: ThreadedLineProtocol, line: str | None) -> None:
        """Act on one line, in its turn."""
        self._last_activity = self._loop.time()
        if (delay := self._bucket.reserve(self._last_activity)) > 0:
            self._metrics.count("delayed_lines")
            await asyncio.sleep(delay)
        self.lines += 1
        self._metrics.count("lines", self.name)
        if line is None:
            self._metrics.count("overlong_lines")
        self._current_call = self._loop.run_in_executor(
            self._pool, self._call_protocol, protocol, line
        )
        await asyncio.shield(self._current_call)
        await self._send_queue.drain()

    def _call_protocol(self, protocol: ThreadedLineProtocol, line: str | None) -> None:
        replies = protocol.handle_overlong_line() if line is None else protocol.handle_line(line)
        for reply in replies:
            self._send_queue.send(reply)

    async def _write(self) -> str:
        """Write what there is to say until the end; return what went wrong, "" if nothing did."""
        try:
            while lines := await self._send_queue.get():
                for some in chunked(lines, WRITE_CHUNK_BYTES):
                    async with asyncio.timeout(WRITE_TIMEOUT_S):
                        await self._transport.write(some)
                    self._send_queue.mark_sent(some)
                    self._last_activity = self._loop.time()
        except ConnectionLostError as error:
            return "unread" if self._send_queue.overflowed else str(error)
        except TimeoutError:
            self._transport.abort()
            return "unread"
        return "unread" if self._send_queue.overflowed else ""
