"""Lines to a server and back as text messages of WebSocket (RFC 6455)."""

from __future__ import annotations

import threading
import time

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.protocol import State as Stage
from websockets.uri import parse_uri

from agent.io.sanitize import sanitize_line
from protocols.remote.transport import (
    MAX_LINE_BYTES,
    ByteStream,
    ServerConnectionError,
    ServerRejectedError,
    printable,
)
from protocols.server.addresses import Address

# What a server answers to a token that it does not know.
REJECTED_STATUSES = (401, 403)
MAX_REASON_LENGTH = 200


class WebSocketLineChannel:
    """Lines as messages, each of one line or of several."""

    def __init__(
        self, wire: ByteStream, address: Address, protocol: str, token: str | None, deadline: float
    ) -> None:
        """Shake hands until `deadline`, of the monotonic clock.

        Raises OSError or ServerRejectedError.
        """
        uri = parse_uri(f"{address}/{protocol}")
        self._stream = wire
        self._lock = threading.Lock()
        self._partial = b""
        self._client = ClientProtocol(uri, max_size=MAX_LINE_BYTES)
        request = self._client.connect()
        if token is not None:
            request.headers["Authorization"] = f"Bearer {token}"
        self._client.send_request(request)
        self._flush()
        while self._client.state is Stage.CONNECTING and self._client.handshake_exc is None:
            if time.monotonic() > deadline:
                raise TimeoutError("the server does not answer")
            self._feed()
        if self._client.handshake_exc is not None:
            self._raise_handshake_error(self._client.handshake_exc)

    def send(self, lines: list[str]) -> None:
        """Send lines, at once."""
        with self._lock:
            if self._client.state is not Stage.OPEN:
                raise ServerConnectionError("the server closed the connection")
            self._client.send_text("\n".join(lines).encode(errors="replace"))
            self._flush()

    def receive(self) -> list[str]:
        """Wait for lines and return them, as they may be shown; OSError at the end."""
        while True:
            found: list[str] = []
            for event in self._client.events_received():
                if isinstance(event, Frame):
                    found += self._message_lines(event)
            if found:
                return found
            if self._client.state is not Stage.OPEN:
                raise ServerConnectionError(self._close_message())
            self._feed()

    def close(self) -> None:
        """End it, for whoever waits for lines too."""
        self._stream.close()

    def _message_lines(self, frame: Frame) -> list[str]:
        """Return the lines of a message that a frame ends; none before its last one."""
        if frame.opcode not in (Opcode.TEXT, Opcode.CONT):
            return []
        self._partial += frame.data
        if not frame.fin:
            return []
        text, self._partial = self._partial, b""
        return [printable(line) for line in text.removesuffix(b"\n").split(b"\n")]

    def _feed(self) -> None:
        data = self._stream.receive()
        with self._lock:
            if data:
                self._client.receive_data(data)
            else:
                self._client.receive_eof()
            self._flush()

    def _flush(self) -> None:
        if data := b"".join(self._client.data_to_send()):
            self._stream.send(data)

    def _close_message(self) -> str:
        reason = self._client.close_reason
        if reason:
            return f"the server closed the connection: {sanitize_line(reason, MAX_REASON_LENGTH)}"
        return "the server closed the connection"

    def _raise_handshake_error(self, error: Exception) -> None:
        if isinstance(error, InvalidStatus):
            response = error.response
            words = sanitize_line(
                (response.body or b"").decode(errors="replace"), MAX_REASON_LENGTH
            )
            words = words.removeprefix("refused ")
            reason = words or f"HTTP status {response.status_code}"
            if response.status_code in REJECTED_STATUSES:
                raise ServerRejectedError(reason)
            raise ServerConnectionError(f"the server answered {response.status_code}: {reason}")
        raise ServerConnectionError(
            f"the server does not speak WebSocket: {sanitize_line(str(error))}"
        )
