"""HTTP connections with limits on their number and duration."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from kempelen.web.security import MAX_BODY_BYTES
from protocols.server.admission import AdmissionControl, ConnectionSlot
from protocols.server.limits import ServerLimits
from protocols.server.network_session import WRITE_TIMEOUT_S

# The timeout of a request is `limits.auth_timeout` seconds plus one second per MIN_BYTES_PER_S
# bytes, up to the maximum body size.
MIN_BYTES_PER_S = 16 << 10


def limited_http_protocol(limits: ServerLimits) -> type[H11Protocol]:
    """Return an HTTP protocol class that closes excess and slow connections.

    A connection is slow if the request or the reading of the response takes too long. The limits
    are separate from the session limits, because a browser opens several connections per page.
    """
    admission = AdmissionControl(limits, None)

    class LimitedHttpProtocol(H11Protocol):
        _slot: ConnectionSlot
        _request_timer: asyncio.TimerHandle
        _write_timer: asyncio.TimerHandle | None = None
        _started: float  # when waiting for the current request began
        _received = 0  # bytes received since `_started`

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._slot = admission.open_slot(self.client[0] if self.client else "?")
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
            self._release()
            super().handle_websocket_upgrade(event)

        def _start_timer(self) -> None:
            self._started, self._received = self.loop.time(), 0
            self._request_timer = self.loop.call_later(limits.auth_timeout, self._check_progress)

        def _check_progress(self) -> None:
            cycle = self.cycle
            if cycle is not None and not cycle.response_complete and not cycle.more_body:
                return  # the request is being handled
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
