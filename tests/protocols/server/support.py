"""A server in the tests' event loop with a scripted protocol, and clients for it."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection

from protocols.server.addresses import Address
from protocols.server.event_log import EventLog
from protocols.server.limits import ServerLimits
from protocols.server.line_scheduler import SessionLines
from protocols.server.network_session import ProtocolFactory
from protocols.server.server import Server
from protocols.server.tokens import TokenFile
from tests.waiting import PATIENCE

QUICK = {"shutdown_timeout": 0.2}


class Puppet:
    """A protocol controlled by its input.

    say X: replies X. later S X: a thread replies X after S seconds. flood N: sends N kilobytes at
    once. sleep S: blocks for S seconds. fail: raises an exception.
    """

    finished = False

    def __init__(self, send: Callable[[str], None], session_lines: SessionLines) -> None:
        self._send = send
        self._threads: list[threading.Timer] = []
        self.closed = False

    def handle_line(self, line: str) -> Iterator[str]:
        word, _, rest = line.partition(" ")
        if word == "say":
            yield rest
        elif word == "later":
            seconds, _, text = rest.partition(" ")
            timer = threading.Timer(float(seconds), self._send, (text,))
            self._threads.append(timer)
            timer.start()
        elif word == "flood":
            for _ in range(int(rest)):
                self._send("x" * 1023)
        elif word == "sleep":
            time.sleep(float(rest))
        elif word == "fail":
            raise RuntimeError("failure requested")
        elif word == "quit":
            self.finished = True

    def handle_overlong_line(self) -> Iterator[str]:
        yield "too long"

    def drain(self, timeout: float | None = None) -> bool:
        deadline = time.monotonic() + (timeout or 0.0)
        for thread in self._threads:
            thread.join(max(deadline - time.monotonic(), 0.0))
        return not any(thread.is_alive() for thread in self._threads)

    def close(self, timeout: float) -> bool:
        self.closed = True
        for thread in self._threads:
            thread.cancel()
        return True


PUPPETS: Mapping[str, ProtocolFactory] = {"puppet": Puppet, "any": Puppet}


@dataclass
class Running:
    """A running server: its addresses by scheme, and its log."""

    server: Server
    addresses: dict[str, Address] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)

    def at(self, scheme: str) -> tuple[str, int]:
        """Return the host and port of an address."""
        return self.addresses[scheme].host, self.addresses[scheme].port

    async def logged(self, text: str) -> str:
        """Wait until a log line contains a text, and return the line."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for line in self.events:
                    if text in line:
                        return line
                await asyncio.sleep(0.01)

    async def empty(self) -> None:
        """Wait until there are no clients."""
        async with asyncio.timeout(PATIENCE):
            while self.server.admission.sessions or self.server.admission.waiting:
                await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def running(
    *schemes: str,
    makers: Mapping[str, ProtocolFactory] = PUPPETS,
    protocol: str = "any",
    tokens: TokenFile | None = None,
    tls: ssl.SSLContext | None = None,
    origins: tuple[str, ...] = (),
    as_json: bool = False,
    **limits: Any,
) -> AsyncIterator[Running]:
    """Run a server on a port for each scheme; `status` is one of them."""
    events: list[str] = []
    log = EventLog(events.append, as_json=as_json)
    server_limits = ServerLimits(**{**QUICK, **limits})
    server = Server(makers, protocol, server_limits, log, tokens, tls, origins)
    run = Running(server, events=events)
    try:
        for scheme in schemes or ("tcp",):
            if scheme == "status":
                run.addresses[scheme] = await server.listen(
                    Address("tcp", "127.0.0.1", 0), status_only=True
                )
            else:
                run.addresses[scheme] = await server.listen(Address(scheme, "127.0.0.1", 0))
        yield run
    finally:
        async with asyncio.timeout(PATIENCE):
            assert await server.close()


class Caller:
    """A client over TCP or TLS."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def say(self, *lines: str) -> None:
        self.writer.write("".join(f"{line}\n" for line in lines).encode())

    async def hear(self) -> str:
        """Return the next line; "" if the connection has ended."""
        async with asyncio.timeout(PATIENCE):
            try:
                return (await self.reader.readline()).decode().rstrip("\n")
            except ConnectionError:
                return ""

    async def ask(self, *lines: str) -> str:
        self.say(*lines)
        return await self.hear()

    async def gone(self) -> bool:
        """Wait until the server has closed the connection, ignoring its output."""
        async with asyncio.timeout(PATIENCE):
            with contextlib.suppress(ConnectionError):
                while await self.reader.read(1 << 16):
                    pass
        return True

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()


@contextlib.asynccontextmanager
async def calling(
    run: Running, scheme: str = "tcp", context: ssl.SSLContext | None = None
) -> AsyncIterator[Caller]:
    name = None if context is None else "localhost"
    opened = asyncio.open_connection(*run.at(scheme), ssl=context, server_hostname=name)
    caller = Caller(*await opened)
    try:
        yield caller
    finally:
        await caller.close()


class WebCaller(Caller):
    """A client over WebSocket with the interface of one over TCP."""

    def __init__(self, web: ClientConnection) -> None:
        self._web = web
        self._waiting: list[str] = []

    def say(self, *lines: str) -> None:
        self._waiting += lines

    async def hear(self) -> str:
        async with asyncio.timeout(PATIENCE):
            if self._waiting:
                await self._web.send("\n".join(self._waiting))
                self._waiting = []
            heard = await self._web.recv()
        assert isinstance(heard, str)
        return heard


async def until(caller: Caller, start: str) -> str:
    """Return the next line that starts with `start`."""
    while not (line := await caller.hear()).startswith(start):
        assert not line.startswith("refused"), line
        assert line or start == "", "connection closed"
    return line
