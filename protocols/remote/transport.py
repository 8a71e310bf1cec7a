"""Lines to a server and back, over TCP or TLS. One thread reads, any thread writes."""

from __future__ import annotations

import contextlib
import socket
import ssl
import sys
import threading
from typing import Protocol

from agent.io.sanitize import sanitize_line
from protocols.server.addresses import Address

# A longer line is no engine's: whoever sends it is not what we want to talk to.
MAX_LINE_BYTES = 1 << 20
CHUNK_BYTES = 1 << 16
# So long may a line wait for the network to take it, in seconds; then the connection is broken.
SEND_TIMEOUT_S = 5.0
# A network that is gone says nothing: after so many seconds of silence it is asked, and it is
# given up after so many more without any answer.
KEEPALIVE_IDLE_S = 4
KEEPALIVE_PROBES = 4


class ServerRejectedError(Exception):
    """The server is there, and does not want us; the message is its own."""


class ServerConnectionError(OSError):
    """What is there does not talk as a server does."""


class ByteStream(Protocol):
    """Bytes to a server and back."""

    def send(self, data: bytes) -> None:
        """Send all of it, at once."""

    def receive(self) -> bytes:
        """Wait for bytes, and return them; none at the end."""

    def close(self) -> None:
        """End it, for whoever waits for bytes too."""


class LineChannel(Protocol):
    """A dialogue in lines, however they travel."""

    def send(self, lines: list[str]) -> None:
        """Send lines, at once."""

    def receive(self) -> list[str]:
        """Wait for lines and return them, as they may be shown; OSError at the end."""

    def close(self) -> None:
        """End it, for whoever waits for lines too."""


class TcpStream:
    """Bytes over TCP."""

    def __init__(self, address: Address, timeout: float) -> None:
        """Connect within `limit` seconds, or raise OSError."""
        self._socket = socket.create_connection((address.host, address.port), timeout)
        with contextlib.suppress(OSError):
            _configure_socket(self._socket)

    def use_send_timeout(self) -> None:
        """Wait as long as it takes from now on, but for what is sent."""
        self._socket.settimeout(SEND_TIMEOUT_S)

    def send(self, data: bytes) -> None:
        """Send all of it, at once."""
        self._socket.sendall(data)

    def receive(self) -> bytes:
        """Wait for bytes, and return them; none at the end."""
        while True:
            try:
                return self._socket.recv(CHUNK_BYTES)
            except TimeoutError:
                if self._socket.gettimeout() != SEND_TIMEOUT_S:
                    raise

    def close(self) -> None:
        """End it, for whoever waits for bytes too."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


class TlsStream:
    """Bytes over TLS over TCP.

    The encryption is kept apart from the socket: a thread that waits for bytes then holds nothing
    that one which sends needs.
    """

    def __init__(self, tcp: TcpStream, context: ssl.SSLContext, host: str) -> None:
        """Shake hands, or raise OSError."""
        self._tcp = tcp
        self._lock = threading.Lock()
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        while not self._try_handshake():
            self._feed(self._tcp.receive())

    def send(self, data: bytes) -> None:
        """Send all of it, at once."""
        with self._lock:
            self._tls.write(data)
            self._flush()

    def receive(self) -> bytes:
        """Wait for bytes, and return them; none at the end."""
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
        """End it, for whoever waits for bytes too."""
        self._tcp.close()

    def _try_handshake(self) -> bool:
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        finally:
            self._flush()  # an alert too
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
    """Lines as over a pipe."""

    def __init__(self, wire: ByteStream) -> None:
        self._stream = wire
        self._partial = b""

    def send(self, lines: list[str]) -> None:
        """Send lines, at once."""
        self._stream.send("".join(f"{line}\n" for line in lines).encode(errors="replace"))

    def receive(self) -> list[str]:
        """Wait for lines and return them, as they may be shown; OSError at the end."""
        while True:
            data = self._stream.receive()
            if not data:
                raise ServerConnectionError("the server closed the connection")
            *complete, self._partial = (self._partial + data).split(b"\n")
            if max(map(len, (*complete, self._partial))) > MAX_LINE_BYTES:
                raise ServerConnectionError(
                    f"the server sent a line of more than {MAX_LINE_BYTES} bytes"
                )
            if complete:
                return [printable(line) for line in complete]

    def close(self) -> None:
        """End it, for whoever waits for lines too."""
        self._stream.close()


def printable(line: bytes) -> str:
    """Return a line as it may be shown, with the spaces that it begins with."""
    text = line.decode(errors="replace").rstrip()
    if text.isprintable():
        return text
    return " " * (len(text) - len(text.lstrip(" "))) + sanitize_line(text, MAX_LINE_BYTES)


def _configure_socket(stream: socket.socket) -> None:
    """Send each line at once, and notice within seconds that the network is gone."""
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
