"""HTTP connections with limits on their number and duration."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from websockets.http11 import Request
from websockets.server import ServerProtocol

from kempelen.web.security import HEADERS, MAX_BODY_BYTES
from protocols.server.admission import AdmissionControl, ConnectionSlot, RejectedError
from protocols.server.limits import ServerLimits
from protocols.server.network_session import WRITE_TIMEOUT_S
from protocols.server.tls_listener import Handshakes
from protocols.server.websocket import check_handshake

# The timeout of a request is `limits.auth_timeout` seconds plus one second per MIN_BYTES_PER_S
# bytes, up to the maximum body size.
MIN_BYTES_PER_S = 16 << 10


def limited_http_protocol(limits: ServerLimits) -> type[H11Protocol]:
    """Return an HTTP protocol class that closes excess and slow connections.

    A connection is slow if the request or the reading of the response takes too long. Above a
    limit, a random connection without a running request is closed. The limits are separate from the
    session limits, because a browser opens several connections per page.
    """
    admission = AdmissionControl(limits, None)

    class LimitedHttpProtocol(H11Protocol):
        handshakes = Handshakes(admission)
        _slot: ConnectionSlot
        _request_timer: asyncio.TimerHandle
        _write_timer: asyncio.TimerHandle | None = None
        _started: float  # when waiting for the current request began
        _received = 0  # bytes received since `_started`

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.handshakes.end(transport.get_extra_info("socket"))
            self._slot = admission.open_slot(self.client[0] if self.client else "?", self._drop)
            self._start_timer()
            if self._slot.over_hard_limit:
                transport.abort()

        def connection_lost(self, exc: Exception | None) -> None:
            self._release()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if not self._received:
                self._started = self.loop.time()
            self._received += len(data)
            super().data_received(data)

        def on_response_complete(self) -> None:
            self._request_timer.cancel()
            self._start_timer()
            super().on_response_complete()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._write_timer = self.loop.call_later(WRITE_TIMEOUT_S, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            if self._write_timer is not None:
                self._write_timer.cancel()

        def handle_websocket_upgrade(self, event: h11.Request) -> None:
            if _is_valid_handshake(event):
                self._release()
                super().handle_websocket_upgrade(event)
            else:
                self.send_400_response("Invalid WebSocket handshake.")

        def send_400_response(self, msg: str) -> None:
            """Send a response with the security headers, which the middleware cannot add here."""
            if self.cycle is not None:
                self.cycle.disconnected = True  # the application must not respond, too
                self.cycle.message_event.set()
            if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
                self.transport.abort()  # the response has begun
                return
            headers = {**HEADERS, "Content-Type": "text/plain", "Connection": "close"}
            for event in (
                h11.Response(status_code=400, headers=list(headers.items()), reason=b"Bad Request"),
                h11.Data(data=msg.encode()),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
            self.transport.close()

        @property
        def _is_busy(self) -> bool:
            """Whether a complete request is being handled."""
            cycle = self.cycle
            return cycle is not None and not cycle.response_complete and not cycle.more_body

        def _drop(self) -> bool:
            if self._is_busy:
                return False
            self.transport.abort()
            return True

        def _start_timer(self) -> None:
            self._started, self._received = self.loop.time(), 0
            self._request_timer = self.loop.call_later(limits.auth_timeout, self._check_progress)

        def _check_progress(self) -> None:
            if self._is_busy:
                return
            seconds = limits.auth_timeout + min(self._received, MAX_BODY_BYTES) / MIN_BYTES_PER_S
            if self.transport.get_write_buffer_size():
                seconds = max(seconds, WRITE_TIMEOUT_S)
            remaining = self._started + seconds - self.loop.time()
            if remaining > 0:
                self._request_timer = self.loop.call_later(remaining, self._check_progress)
            else:
                self.transport.abort()

        def _release(self) -> None:
            self._request_timer.cancel()
            if self._write_timer is not None:
                self._write_timer.cancel()
            self._slot.close()

    return LimitedHttpProtocol


def _is_valid_handshake(request: h11.Request) -> bool:
    """Whether `websockets` accepts a request. uvicorn fails, or sends no security headers."""
    headers = [(name.decode("ascii"), value.decode("latin-1")) for name, value in request.headers]
    try:
        check_handshake(headers)
    except RejectedError:
        return False
    lines = [b"%s: %s\r\n" % header for header in request.headers]
    protocol = ServerProtocol()
    start = b"%s %s HTTP/1.1\r\n" % (request.method, request.target)
    protocol.receive_data(start + b"".join(lines) + b"\r\n")
    return any(
        isinstance(event, Request) and protocol.accept(event).status_code == 101
        for event in protocol.events_received()
    )
