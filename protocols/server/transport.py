"""What carries the lines of one session; over TCP and TLS here, over WebSocket in websocket.py."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from protocols.line_splitter import LineSplitter

_CHUNK = 1 << 16
# How long a peer that has vanished without a word is believed in, in seconds.
PEER_TIMEOUT_S = 120
_KEEPALIVE_PROBES = 4


class ConnectionLostError(Exception):
    """Nobody is at the other end any more; the text says in a word or two why."""

    def __init__(self, reason: str = "lost") -> None:
        super().__init__(reason)


class Transport(Protocol):
    """Lines from and to one client, of whom `host` and `peer` (with the port) tell."""

    host: str
    peer: str

    async def receive(self) -> list[str | None]:
        """Return the next lines, None for one that was too long; none at the end of input.

        Raises ConnectionLostError. May be cancelled without a loss.
        """

    async def write(self, lines: Sequence[bytes]) -> None:
        """Write lines, and wait until the client has read most. Raises ConnectionLostError."""

    async def close(self) -> None:
        """End the connection in order; waits for the client, who may take his time."""

    def abort(self) -> None:
        """Cut the connection off."""


class StreamTransport:
    """A wire over TCP or TLS."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, max_line: int
    ) -> None:
        self.host, self.peer = peer_names(writer.get_extra_info("peername"))
        self._reader = reader
        self._writer = writer
        self._splitter = LineSplitter(max_line)
        self._ended = False
        configure_socket(writer.get_extra_info("socket"))

    async def receive(self) -> list[str | None]:
        """Return the next lines, as of every wire."""
        while not self._ended:
            try:
                chunk = await self._reader.read(_CHUNK)
            except OSError:
                raise ConnectionLostError from None
            self._ended = not chunk
            if lines := list(self._splitter.feed(chunk) if chunk else self._splitter.end()):
                return lines
        return []

    async def write(self, lines: Sequence[bytes]) -> None:
        """Write lines, as to every wire."""
        try:
            self._writer.write(b"".join(line + b"\n" for line in lines))
            await self._writer.drain()
        except OSError:
            raise ConnectionLostError from None

    async def close(self) -> None:
        """End the connection in order."""
        with contextlib.suppress(OSError):
            if self._writer.can_write_eof():
                self._writer.write_eof()
                # What is still on its way here would take our last words away from the client.
                while await self._reader.read(_CHUNK):
                    pass
            self._writer.close()
            await self._writer.wait_closed()

    def abort(self) -> None:
        """Cut the connection off."""
        self._writer.transport.abort()


def chunked(lines: Sequence[bytes], size: int) -> Iterator[list[bytes]]:
    """Yield lines in groups of about so many bytes, and one at least."""
    some: list[bytes] = []
    most = 0
    for line in lines:
        some.append(line)
        most += len(line)
        if most >= size:
            yield some
            some, most = [], 0
    if some:
        yield some


def peer_names(peername: Any) -> tuple[str, str]:
    """Return the host of a socket's other end, and host and port as people write them."""
    if not isinstance(peername, tuple):
        return "nobody", "nobody"  # it has gone already
    host, port = peername[:2]
    return host, f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def configure_socket(connection: Any) -> None:
    """Send lines at once, and notice in VANISHED seconds where the other end has vanished."""
    options = [
        (socket.IPPROTO_TCP, "TCP_NODELAY", 1),
        (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
        (socket.IPPROTO_TCP, "TCP_KEEPIDLE", PEER_TIMEOUT_S // 2),
        (socket.IPPROTO_TCP, "TCP_KEEPINTVL", PEER_TIMEOUT_S // 2 // _KEEPALIVE_PROBES),
        (socket.IPPROTO_TCP, "TCP_KEEPCNT", _KEEPALIVE_PROBES),
    ]
    if sys.platform == "linux":
        options.append((socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", PEER_TIMEOUT_S * 1000))
    for level, name, value in options:
        if hasattr(socket, name):
            with contextlib.suppress(OSError):  # the connection has ended
                connection.setsockopt(level, getattr(socket, name), value)
