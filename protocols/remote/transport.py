"""Byte streams and line channels to a server over TCP or TLS.

Only one thread may receive, and any thread may send.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import sys
import threading
from typing import Protocol

from agent.io.sanitize import sanitize_line
from protocols.server.addresses import Address

# A longer line is a protocol error.
MAX_LINE_BYTES = 1 << 20
CHUNK_BYTES = 1 << 16
# A connection that accepts no data for this time counts as broken.
SEND_TIMEOUT_S = 5.0
# TCP keep-alive: after this time without data, the peer is probed once a second.
KEEPALIVE_IDLE_S = 4
KEEPALIVE_PROBES = 4


class ServerRejectedError(Exception):
    """The server rejects the client. The message is the text that the server sent."""


class ServerConnectionError(OSError):
    """The peer has closed the connection or does not behave like a Kempelen server."""


class ByteStream(Protocol):
    """A byte stream to a server."""

    def send(self, data: bytes) -> None:
        """Send all bytes immediately."""

    def receive(self) -> bytes:
        """Wait for bytes and return them. Return b"" at the end of the stream."""

    def close(self) -> None:
        """Close the stream and wake up a thread that waits in `receive`."""


class LineChannel(Protocol):
    """A channel of text lines to a server."""

    def send(self, lines: list[str]) -> None:
        """Send lines immediately."""

    def receive(self) -> list[str]:
        """Wait for lines and return them as printable text. Raise OSError at the end."""

    def close(self) -> None:
        """Close the channel and wake up a thread that waits in `receive`."""


class TcpStream:
    def __init__(self, address: Address, timeout: float) -> None:
        """Connect within `timeout` seconds. Raise OSError if the connection fails."""
        self._socket = socket.create_connection((address.host, address.port), timeout)
        with contextlib.suppress(OSError):
            _configure_socket(self._socket)

    def use_send_timeout(self) -> None:
        """Remove the timeout for receiving, and set the timeout for sending to SEND_TIMEOUT_S."""
        self._socket.settimeout(SEND_TIMEOUT_S)

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def receive(self) -> bytes:
        while True:
            try:
                return self._socket.recv(CHUNK_BYTES)
            except TimeoutError:
                if self._socket.gettimeout() != SEND_TIMEOUT_S:
                    raise

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


class TlsStream:
    """A byte stream over TLS.

    It uses memory buffers, so that `send` can run while `receive` waits for data.
    """

    def __init__(self, tcp: TcpStream, context: ssl.SSLContext, host: str) -> None:
        """Perform the TLS handshake. Raise OSError if the handshake fails."""
        self._tcp = tcp
        self._lock = threading.Lock()
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        while not self._try_handshake():
            self._feed(self._tcp.receive())

    def send(self, data: bytes) -> None:
        with self._lock:
            self._tls.write(data)
            self._flush()

    def receive(self) -> bytes:
        while True:
            with self._lock:
                try:
                    return self._tls.read(CHUNK_BYTES)
                except ssl.SSLWantReadError:
                    self._flush()
                except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                    return b""
            self._feed(self._tcp.receive())

    def close(self) -> None:
        self._tcp.close()

    def _try_handshake(self) -> bool:
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        finally:
            self._flush()  # After a failure, this also sends an alert.
        return True

    def _feed(self, data: bytes) -> None:
        with self._lock:
            if data:
                self._incoming.write(data)
            else:
                self._incoming.write_eof()

    def _flush(self) -> None:
        if data := self._outgoing.read():
            self._tcp.send(data)


class StreamLineChannel:
    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._partial = b""

    def send(self, lines: list[str]) -> None:
        self._stream.send("".join(f"{line}\n" for line in lines).encode(errors="replace"))

    def receive(self) -> list[str]:
        while True:
            data = self._stream.receive()
            if not data:
                raise ServerConnectionError("the server closed the connection")
            *complete, self._partial = (self._partial + data).split(b"\n")
            if max(map(len, (*complete, self._partial))) > MAX_LINE_BYTES:
                raise ServerConnectionError(
                    f"the server sent an overlong line (maximum {MAX_LINE_BYTES} bytes)"
                )
            if complete:
                return [printable(line) for line in complete]

    def close(self) -> None:
        self._stream.close()


def printable(line: bytes) -> str:
    """Return a received line as printable text. Leading spaces are kept."""
    text = line.decode(errors="replace").rstrip()
    if text.isprintable():
        return text
    return " " * (len(text) - len(text.lstrip(" "))) + sanitize_line(text, MAX_LINE_BYTES)


def _configure_socket(stream: socket.socket) -> None:
    """Disable Nagle's algorithm, and detect a lost network connection within seconds."""
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    idle = "TCP_KEEPALIVE" if sys.platform == "darwin" else "TCP_KEEPIDLE"
    for name, value in (
        (idle, KEEPALIVE_IDLE_S),
        ("TCP_KEEPINTVL", 1),
        ("TCP_KEEPCNT", KEEPALIVE_PROBES),
    ):
        if hasattr(socket, name):
            stream.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        stream.setsockopt(
            socket.IPPROTO_TCP,
            socket.TCP_USER_TIMEOUT,
            (KEEPALIVE_IDLE_S + KEEPALIVE_PROBES) * 1000,
        )
