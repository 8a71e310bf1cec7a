"""Transports that carry the lines of a session over TCP or TLS."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Protocol

from protocols import session
from protocols.line_splitter import LineSplitter
from protocols.server.admission import RejectedError
from protocols.sockets import configure_socket

CHUNK_BYTES = 1 << 16
# A chunk may hold one line per byte. The event loop must not split all of them at once.
MAX_LINES_AT_ONCE = 256
# A peer that does not respond for this time counts as lost.
PEER_TIMEOUT_S = 120
# A web page can have a browser send these lines here: a request line, the headers that browsers
# send first, if the request line was too long, and the beginning of a TLS handshake.
_HTTP = re.compile(r"\S+ \S+ HTTP/[0-9]|(?:host|origin):|\x16\x03", re.IGNORECASE)
_MAX_HTTP_LINES = 100  # lines that are checked


class ConnectionLostError(Exception):
    """The connection is lost. The message is the reason in one or two words."""

    def __init__(self, reason: str = "lost") -> None:
        super().__init__(reason)


class Transport(Protocol):
    """Carries lines to and from one client. The attribute `peer` is the client's host and port."""

    host: str
    peer: str

    async def receive(self) -> list[str | None]:
        """Return the next lines, or [] at the end of input. An overlong line becomes None.

        Raise ConnectionLostError if the connection is lost, and RejectedError if it carries HTTP.
        Cancellation loses no lines.
        """

    def is_lost(self) -> bool:
        """Return whether the connection is known to be lost, without reading from it."""

    def is_half_closed(self) -> bool:
        """Return whether the client is known to send nothing more, without reading from it."""

    async def write(self, lines: Sequence[bytes]) -> None:
        """Write lines and wait for the send buffer to drain. May raise ConnectionLostError."""

    async def close(self) -> None:
        """Close the connection gracefully. This may wait for the client."""

    def abort(self) -> None:
        """Close the connection immediately."""


class StreamTransport:
    """A transport over TCP or TLS."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, max_line: int
    ) -> None:
        self.host, self.peer = peer_names(writer.get_extra_info("peername"))
        self._reader = reader
        self._writer = writer
        self._splitter = LineSplitter(max_line)
        self._lines: Iterator[str | None] = iter(())
        self._ended = False
        self._unchecked = _MAX_HTTP_LINES
        configure_socket(writer.get_extra_info("socket"), PEER_TIMEOUT_S)

    async def receive(self) -> list[str | None]:
        await asyncio.sleep(0)  # lets other clients be served between two parts of a chunk
        while not (lines := list(islice(self._lines, MAX_LINES_AT_ONCE))) and not self._ended:
            try:
                chunk = await self._reader.read(CHUNK_BYTES)
            except OSError:
                raise ConnectionLostError from None
            self._ended = not chunk
            if self._ended and not self._writer.can_write_eof():
                raise ConnectionLostError("closed")  # TLS cannot be closed on one side only.
            self._lines = self._splitter.feed(chunk) if chunk else self._splitter.end()
        self._reject_http(lines)
        return lines

    def is_lost(self) -> bool:
        return is_hung_up(self._writer.transport, half=not self._writer.can_write_eof())

    def is_half_closed(self) -> bool:
        return is_hung_up(self._writer.transport, half=True)

    def _reject_http(self, lines: Sequence[str | None]) -> None:
        first, self._unchecked = self._unchecked, max(self._unchecked - len(lines), 0)
        if any(line is not None and _HTTP.match(line) for line in lines[:first]):
            raise RejectedError("http", "HTTP and other web requests are not accepted here")

    async def write(self, lines: Sequence[bytes]) -> None:
        try:
            self._writer.write(b"".join(line + b"\n" for line in lines))
            await self._writer.drain()
        except OSError:
            raise ConnectionLostError from None

    async def close(self) -> None:
        with contextlib.suppress(OSError):
            if self._writer.can_write_eof():
                self._writer.write_eof()
                # Unread input would reset the connection and discard the last output.
                while await self._reader.read(CHUNK_BYTES):
                    pass
            self._writer.close()
            await self._writer.wait_closed()

    def abort(self) -> None:
        self._writer.transport.abort()

    def drop(self) -> bool:
        """Disconnect a client that has not been admitted. Return True."""
        self.abort()
        return True


def is_hung_up(transport: asyncio.BaseTransport, *, half: bool) -> bool:
    """Return whether the connection is closed, as `protocols.session.is_hung_up` does."""
    connection = transport.get_extra_info("socket")
    return transport.is_closing() or session.is_hung_up(connection.fileno(), half=half)


def chunked(lines: Sequence[bytes], size: int) -> Iterator[list[bytes]]:
    """Yield lines in groups of about `size` bytes. Each group has at least one line."""
    group: list[bytes] = []
    total = 0
    for line in lines:
        group.append(line)
        total += len(line)
        if total >= size:
            yield group
            group, total = [], 0
    if group:
        yield group


def peer_names(peername: Any) -> tuple[str, str]:
    """Return a peer's host, and the host and port as "HOST:PORT"."""
    if not isinstance(peername, tuple):
        return "nobody", "nobody"  # The peer has already disconnected.
    host, port = peername[:2]
    return host, f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
