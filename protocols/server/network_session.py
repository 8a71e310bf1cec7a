"""Network sessions, which pass lines between a transport and a protocol.

A thread pool handles the lines of each session in order, so the event loop never blocks. Lines are
read ahead, so that the end of the connection is noticed while earlier lines are handled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from math import inf
from typing import Any

from protocols.server.admission import RejectedError
from protocols.server.limits import CHARACTERS_PER_LINE, ServerLimits, TokenBucket
from protocols.server.line_scheduler import SessionLines
from protocols.server.metrics import Metrics
from protocols.server.receive_queue import ReceiveQueue
from protocols.server.send_queue import SendQueue
from protocols.server.transport import ConnectionLostError, Transport, chunked
from protocols.session import POLL_INTERVAL
from protocols.stdio import SHUTDOWN_TIMEOUT, ThreadedLineProtocol
from protocols.tasks import cancel_all

# Creates the protocol of a session. The first argument sends output that is not a reply to a line.
ProtocolFactory = Callable[[Callable[[str], None], SessionLines], ThreadedLineProtocol]

END_OF_INPUT = "end of input"
# Timeout for pending lines and replies of a client that has closed its side.
FINAL_REPLIES_TIMEOUT_S = 10.0
# Reading pauses while more than this is read ahead. A client that sends so much ahead of a line
# which takes longer than the timeout is disconnected, because the end of its connection may be
# behind data that no longer fits into the buffers of the network.
MAX_READ_AHEAD_BYTES = 1 << 20
READ_AHEAD_TIMEOUT_S = 20.0
# Timeout for the last output and the closing handshake.
CLOSE_TIMEOUT_S = 2.0
# Timeout for threads that outlive the session, such as a thread that loads a kernel.
THREAD_EXIT_TIMEOUT_S = 30.0
# A client that does not read a chunk of output within this time is disconnected.
WRITE_CHUNK_BYTES = 64 << 10
WRITE_TIMEOUT_S = 60.0


class NetworkSession:
    """Passes lines between a transport and a protocol until either ends or a limit is reached."""

    def __init__(
        self,
        transport: Transport,
        name: str,
        factory: ProtocolFactory,
        pool: Executor,
        limits: ServerLimits,
        metrics: Metrics,
        session_lines: SessionLines,
    ) -> None:
        self.name = name
        self.lines = 0
        self._transport = transport
        self._factory = factory
        self._pool = pool
        self._limits = limits
        self._metrics = metrics
        self._session_lines = session_lines
        self._loop = asyncio.get_running_loop()
        self._started = self._last_activity = self._loop.time()
        self._last_handled = self._last_sent = self._started
        self._half_closed_at = inf  # if this is noticed before the end of the input is read
        self._bucket = TokenBucket(limits.line_rate, self._started)
        self._received = ReceiveQueue(MAX_READ_AHEAD_BYTES)
        self._send_queue = SendQueue(transport.abort)
        self._end_request: asyncio.Future[tuple[str, str, float]] = self._loop.create_future()
        self._current_call: asyncio.Future[None] | None = None
        self._protocol: ThreadedLineProtocol | None = None
        self._closed = True

    def end(self, code: str, reason: str, grace: float = 0.0) -> None:
        """End the session after at most `grace` seconds for pending replies.

        The log and the metrics use the short key `code`. The client receives `reason`.
        """
        if not self._end_request.done():
            self._end_request.set_result((code, reason, grace))

    async def run(self, received: list[str | None]) -> str:
        """Serve until the session ends and return the reason. The transport stays open.

        The lines in `received` arrived before the session started.
        """
        protocol = await self._loop.run_in_executor(self._pool, self._create_protocol)
        self._protocol, self._closed = protocol, False
        writing = asyncio.create_task(self._write())
        reading = asyncio.create_task(self._read(received))
        handling = asyncio.create_task(self._handle_lines(protocol))
        try:
            await self._wait_for_end(writing, reading, handling)
            reason = await self._finish(protocol, writing, reading, handling)
        finally:
            await cancel_all([reading, handling])
            self._session_lines.end()
            closing = self._loop.run_in_executor(self._pool, protocol.close, SHUTDOWN_TIMEOUT)
            # A line that is still being handled may start a search after this.
            self._closed = await closing and self._is_call_done()
            self._send_queue.close()
            await asyncio.wait({writing}, timeout=CLOSE_TIMEOUT_S)
            await cancel_all([writing])
        return reason

    def _create_protocol(self) -> ThreadedLineProtocol:
        with self._session_lines.turn(0):
            return self._factory(self._send_queue.send, self._session_lines)

    async def _wait_for_end(self, *tasks: asyncio.Task[str]) -> None:
        limits = self._limits
        ends: set[asyncio.Future[Any]] = {*tasks, self._end_request}
        while not any(end.done() for end in ends):
            now = self._loop.time()
            remaining = self._started + limits.max_session - now
            until_idle = self._last_activity + limits.idle_timeout - now
            if remaining <= 0:
                self.end("longest", f"session limit of {limits.max_session:g} seconds reached")
            elif until_idle <= 0:
                self.end("idle", f"session idle for {limits.idle_timeout:g} seconds")
            else:
                await asyncio.wait(
                    ends,
                    timeout=min(remaining, until_idle),
                    return_when=asyncio.FIRST_COMPLETED,
                )

    async def _finish(
        self,
        protocol: ThreadedLineProtocol,
        writing: asyncio.Task[str],
        reading: asyncio.Task[str],
        handling: asyncio.Task[str],
    ) -> str:
        if self._end_request.done():
            code, reason, grace = self._end_request.result()
            await cancel_all([handling])
            await self._drain(protocol, writing, reading, handling, grace)
            self._send_queue.send(f"refused {reason}")
            return code
        if handling.done():
            handling.result()  # raises the exception of a failed protocol
        await self._drain(protocol, writing, reading, handling, FINAL_REPLIES_TIMEOUT_S)
        if writing.done():
            return writing.result()
        return (handling if handling.done() else reading).result()

    async def _drain(
        self,
        protocol: ThreadedLineProtocol,
        writing: asyncio.Task[str],
        reading: asyncio.Task[str],
        handling: asyncio.Task[str],
        seconds: float,
    ) -> None:
        """Wait `seconds` seconds for pending replies. Return at once if the connection is lost.

        While lines wait, each reply extends the time, because a client that is gone rejects it.
        """
        since = self._loop.time()
        while not writing.done() and not (reading.done() and reading.result() != END_OF_INPUT):
            remaining = since + seconds - self._loop.time()
            if remaining <= 0:
                return
            interval = min(remaining, POLL_INTERVAL)
            if not handling.done():
                ends = {writing, handling}
                await asyncio.wait(ends, timeout=interval, return_when=asyncio.FIRST_COMPLETED)
                since = self._loop.time() if handling.done() else max(since, self._last_sent)
            elif await self._loop.run_in_executor(self._pool, protocol.drain, interval):
                return

    def _is_call_done(self) -> bool:
        return self._current_call is None or self._current_call.done()

    async def wait_for_threads(self) -> bool:
        """Wait for threads that outlived the session. Return whether all ended in time."""
        if self._current_call is not None:
            await asyncio.wait([self._current_call], timeout=THREAD_EXIT_TIMEOUT_S)
        if self._protocol is not None and not self._closed:
            closing = self._loop.run_in_executor(
                self._pool, self._protocol.close, THREAD_EXIT_TIMEOUT_S
            )
            self._closed = await closing
        return self._closed and self._is_call_done()

    async def _read(self, received: list[str | None]) -> str:
        """Read lines until the input ends. Return the reason."""
        try:
            while received:
                self._received.put(received)
                await self._wait_for_room()
                received = await self._transport.receive()
        except ConnectionLostError as error:
            return str(error)
        except RejectedError as error:
            self.end(error.code, str(error))
            return error.code
        self._received.end()
        return END_OF_INPUT

    async def _wait_for_room(self) -> None:
        """Pause reading while too many lines wait.

        Raise ConnectionLostError if the connection is lost meanwhile.
        """
        paused = self._loop.time()
        while self._received.full:
            await asyncio.sleep(POLL_INTERVAL)
            now = self._loop.time()
            if self._transport.is_half_closed():
                self._half_closed_at = min(self._half_closed_at, now)
            unanswered = now - max(self._half_closed_at, self._last_sent)
            if self._transport.is_lost() or unanswered > FINAL_REPLIES_TIMEOUT_S:
                raise ConnectionLostError
            if now - max(paused, self._last_handled) > READ_AHEAD_TIMEOUT_S:
                self.end("flood", "too many unanswered commands")

    async def _handle_lines(self, protocol: ThreadedLineProtocol) -> str:
        """Handle lines until the protocol finishes or the input ends. Return the reason."""
        async for line in self._received:
            await self._process_line(protocol, line)
            self._last_handled = self._loop.time()
            if protocol.finished:
                return "quit"
        return END_OF_INPUT

    async def _process_line(self, protocol: ThreadedLineProtocol, line: str | None) -> None:
        self._last_activity = self._loop.time()
        cost = 1.0 + len(line or "") // CHARACTERS_PER_LINE
        if (delay := self._bucket.reserve(self._last_activity, cost)) > 0:
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
        with self._session_lines.turn(len(line or "")) as admitted:
            if not admitted:
                return
            for reply in (
                protocol.handle_overlong_line() if line is None else protocol.handle_line(line)
            ):
                self._send_queue.send(reply)

    async def _write(self) -> str:
        """Write output until the queue is closed. Return "" or the reason for a failure."""
        try:
            while lines := await self._send_queue.get():
                for chunk in chunked(lines, WRITE_CHUNK_BYTES):
                    async with asyncio.timeout(WRITE_TIMEOUT_S):
                        await self._transport.write(chunk)
                    self._send_queue.mark_sent(chunk)
                    self._last_activity = self._last_sent = self._loop.time()
        except ConnectionLostError as error:
            return "unread" if self._send_queue.overflowed else str(error)
        except TimeoutError:
            self._transport.abort()
            return "unread"
        return "unread" if self._send_queue.overflowed else ""
