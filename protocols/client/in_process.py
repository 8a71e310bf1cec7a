"""Run an engine in this process, with the interface of an engine process."""

import asyncio
import time
from collections import deque
from collections.abc import Callable

from agent.io.sanitize import sanitize_line
from protocols.client.own_engine import AUTHORS
from protocols.client.process import MAX_LINE_LENGTH, EngineDiedError, IoLog
from protocols.stdio import ThreadedLineProtocol
from protocols.uci.protocol import UciProtocol

CLOSE_LIMIT = 2.0
# Creates a protocol from its output function.
ProtocolFactory = Callable[[Callable[[str], None]], ThreadedLineProtocol]


class InProcessTransport:
    """A transport to a protocol object in this process, which is a `UciProtocol` by default.

    The transport belongs to the event loop in which it was created.
    """

    def __init__(
        self,
        name: str,
        log: IoLog | None = None,
        make: ProtocolFactory | None = None,
    ) -> None:
        self.arrived = 0.0
        self._loop = asyncio.get_running_loop()
        self._log = log
        self._lines: deque[tuple[str, float]] = deque()
        self._arrived = asyncio.Event()
        self._closed = False
        self._protocol: ThreadedLineProtocol = (
            UciProtocol(name, AUTHORS, self._on_output, ignore_log_file)
            if make is None
            else make(self._on_output)
        )

    @property
    def pid(self) -> int:
        return 0

    def send(self, text: str) -> None:
        for line in text.splitlines():
            if self._log:
                self._log.write(self.pid, ">", line)
            if not self._closed:
                for reply in self._protocol.handle_line(line):
                    self._receive(reply, time.perf_counter())

    async def read_line(self) -> str:
        while not self._lines:
            if self._closed:
                raise EngineDiedError("the engine is closed")
            self._arrived.clear()
            await self._arrived.wait()
        line, self.arrived = self._lines.popleft()
        if self._log:
            self._log.write(self.pid, "<", line)
        return line

    async def stop(self, limit: float) -> None:
        await self.kill()

    async def kill(self) -> None:
        self._closed = True
        await asyncio.to_thread(self._protocol.close, CLOSE_LIMIT)

    async def describe_end(self) -> str:
        return "the engine was closed"

    def _on_output(self, text: str) -> None:
        if not self._loop.is_closed():
            for line in text.split("\n"):  # A GTP response has several lines.
                self._loop.call_soon_threadsafe(self._receive, line, time.perf_counter())

    def _receive(self, line: str, arrived: float) -> None:
        self._lines.append((sanitize_line(line, MAX_LINE_LENGTH), arrived))
        self._arrived.set()


def ignore_log_file(path: str) -> None:
    """Ignore the path, as the `log_to` function of an engine without a debug log file."""
