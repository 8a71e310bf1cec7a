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
)

# HTTP statuses for a wrong token, or a page that is not allowed.
REJECTED_STATUSES = (401, 403)
MAX_REASON_LENGTH = 200


class WebSocketStream:
    """A byte stream over WebSocket. The end of a message is also the end of a line."""

    def __init__(self, stream: ByteStream, uri: str, token: str | None, deadline: float) -> None:
        """Perform the opening handshake before the monotonic time `deadline`.

        Raise OSError if it fails, and ServerRejectedError if the server rejects the client.
        """
        self._stream = stream
        self._lock = threading.Lock()
        self._client = ClientProtocol(parse_uri(uri), max_size=MAX_LINE_BYTES)
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
            _raise_handshake_error(self._client.handshake_exc)

    def send(self, data: bytes) -> None:
        with self._lock:
            if self._client.state is not Stage.OPEN:
                raise ServerConnectionError("the server closed the connection")
            self._client.send_text(data)
            self._flush()

    def receive(self) -> bytes:
        while True:
            data = b""
            for event in self._client.events_received():
                if isinstance(event, Frame) and event.opcode in (Opcode.TEXT, Opcode.CONT):
                    part = bytes(event.data)
                    data += part if not event.fin or part.endswith(b"\n") else part + b"\n"
            if data:
                return data
            if self._client.state is not Stage.OPEN:
                reason = sanitize_line(self._client.close_reason or "", MAX_REASON_LENGTH)
                text = "the server closed the connection"
                raise ServerConnectionError(f"{text}: {reason}" if reason else text)
            self._feed()

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


def _raise_handshake_error(error: Exception) -> None:
    if not isinstance(error, InvalidStatus):
        raise ServerConnectionError(f"WebSocket handshake failed: {sanitize_line(str(error))}")
    response = error.response
    text = sanitize_line((response.body or b"").decode(errors="replace"), MAX_REASON_LENGTH)
    reason = text.removeprefix("refused ") or f"HTTP status {response.status_code}"
    if response.status_code in REJECTED_STATUSES:
        raise ServerRejectedError(reason)
    raise ServerConnectionError(f"HTTP status {response.status_code}: {reason}")
