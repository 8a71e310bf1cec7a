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

# HTTP statuses for a wrong token, or a page that is not allowed.
REJECTED_STATUSES = (401, 403)
MAX_REASON_LENGTH = 200


class WebSocketLineChannel:
    """A line channel over WebSocket. Each message contains one or more lines."""

    def __init__(
        self,
        stream: ByteStream,
        address: Address,
        protocol: str,
        token: str | None,
        deadline: float,
    ) -> None:
        """Perform the opening handshake before the monotonic time `deadline`.

        Raise OSError if it fails, and ServerRejectedError if the server rejects the client.
        """
        uri = parse_uri(f"{address}/{protocol}")
        self._stream = stream
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
        with self._lock:
            if self._client.state is not Stage.OPEN:
                raise ServerConnectionError("the server closed the connection")
            self._client.send_text("\n".join(lines).encode(errors="replace"))
            self._flush()

    def receive(self) -> list[str]:
        while True:
            lines: list[str] = []
            for event in self._client.events_received():
                if isinstance(event, Frame):
                    lines += self._message_lines(event)
            if lines:
                return lines
            if self._client.state is not Stage.OPEN:
                raise ServerConnectionError(self._close_message())
            self._feed()

    def close(self) -> None:
        self._stream.close()

    def _message_lines(self, frame: Frame) -> list[str]:
        """Add a frame. Return the message's lines if the frame is its last one, or else []."""
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
            text = sanitize_line((response.body or b"").decode(errors="replace"), MAX_REASON_LENGTH)
            text = text.removeprefix("refused ")
            reason = text or f"HTTP status {response.status_code}"
            if response.status_code in REJECTED_STATUSES:
                raise ServerRejectedError(reason)
            raise ServerConnectionError(f"HTTP status {response.status_code}: {reason}")
        raise ServerConnectionError(f"WebSocket handshake failed: {sanitize_line(str(error))}")
