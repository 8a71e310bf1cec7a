from __future__ import annotations

import ssl
import time

from agent.io.sanitize import sanitize_line
from protocols.remote.transport import (
    MAX_LINE_BYTES,
    ByteStream,
    ServerConnectionError,
    ServerRejectedError,
    TcpStream,
    TlsStream,
)
from protocols.server.addresses import Address


class LineChannel:
    """A channel of text lines to a server over TCP, TLS or WebSocket.

    Only one thread may receive, and any thread may send.
    """

    def __init__(
        self,
        address: Address,
        protocol: str,
        trust: ssl.SSLContext | None,
        token: str | None,
        timeout: float,
    ) -> None:
        """Connect within about `timeout` seconds and send the token.

        Raise OSError if the connection fails, and ServerRejectedError if the server rejects the
        client.
        """
        deadline = time.monotonic() + timeout
        self._partial = b""
        self._tcp = TcpStream(address, timeout)
        self._stream: ByteStream = self._tcp
        try:
            if address.uses_tls:
                assert trust is not None
                self._stream = TlsStream(self._tcp, trust, address.host)
            if address.uses_http:
                from protocols.remote.websocket import WebSocketStream

                uri = f"{address}/{protocol}"
                self._stream = WebSocketStream(self._stream, uri, token, deadline)
            elif token is not None:
                self._authorize(token)
            self._tcp.end_opening()
        except BaseException:
            self._tcp.close()
            raise

    def send(self, lines: list[str]) -> None:
        """Send lines immediately."""
        self._stream.send("".join(f"{line}\n" for line in lines).encode(errors="replace"))

    def receive(self) -> list[str]:
        """Wait for lines and return them as printable text. Raise OSError if the channel ends."""
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
                return [_printable(line) for line in complete]

    def close(self) -> None:
        """Close the channel and wake up a thread that waits in `receive`."""
        self._tcp.close()

    def _authorize(self, token: str) -> None:
        self.send([f"authorize {token}"])
        (answer, *_) = self.receive()
        word, _, reason = answer.partition(" ")
        if word == "refused":
            raise ServerRejectedError(reason or "no reason given")
        if answer != "authorized":
            raise ServerConnectionError("no valid answer to the token")


def _printable(line: bytes) -> str:
    """Return a received line as printable text. Leading spaces are kept."""
    text = line.decode(errors="replace").rstrip()
    if text.isprintable():
        return text
    return " " * (len(text) - len(text.lstrip(" "))) + sanitize_line(text, MAX_LINE_BYTES)
