"""Byte streams to a server over TCP or TLS.

Only one thread may receive, and any thread may send.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from typing import Protocol

from agent.io.sanitize import sanitize_line
from protocols.server.addresses import Address
from protocols.sockets import configure_socket

# A longer line, or message, is a protocol error.
MAX_LINE_BYTES = 1 << 20
CHUNK_BYTES = 1 << 16
# A connection that accepts no data for this time counts as broken.
SEND_TIMEOUT_S = 5.0
# A timeout of 0 would be that of a socket that does not block.
MIN_TIMEOUT_S = 0.001
# A server that does not respond to TCP keep-alive probes for this time counts as lost.
PEER_TIMEOUT_S = 8


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


class TcpStream:
    def __init__(self, address: Address, timeout: float) -> None:
        """Connect within `timeout` seconds. Raise OSError if the connection fails.

        The same timeout applies to all that is received until `end_opening`.
        """
        self._deadline: float | None = time.monotonic() + timeout
        self._socket = socket.create_connection((address.host, address.port), timeout)
        configure_socket(self._socket, PEER_TIMEOUT_S)

    def end_opening(self) -> None:
        """Remove the timeout for receiving, and set the timeout for sending to SEND_TIMEOUT_S."""
        self._deadline = None
        self._socket.settimeout(SEND_TIMEOUT_S)

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def receive(self) -> bytes:
        while True:
            if self._deadline is not None:
                self._socket.settimeout(max(self._deadline - time.monotonic(), MIN_TIMEOUT_S))
            try:
                return self._socket.recv(CHUNK_BYTES)
            except TimeoutError:
                if self._deadline is not None:
                    raise

    def close(self) -> None:
        """Close the stream and wake up a thread that waits in `receive`."""
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


def describe_error(error: Exception) -> str:
    """Return the reason for a failed connection as one printable line."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"untrusted server certificate: {sanitize_line(error.verify_message, 300)} "
            "(use --ca FILE to trust its issuer)"
        )
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return sanitize_line(reason, 300)
