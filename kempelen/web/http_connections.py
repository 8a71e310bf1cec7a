"""Connections that carry HTTP: how many there may be, and how long they may keep us waiting."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from kempelen.web.security import MAX_BODY_BYTES
from protocols.server.admission import AdmissionControl, ConnectionSlot
from protocols.server.limits import ServerLimits
from protocols.server.network_session import WRITE_TIMEOUT_S

# A request may take as long as `limits.authorising` says, and a second more for so many bytes of
# it; what is longer than any that is read has no more.
MIN_BYTES_PER_S = 16 << 10


def limited_http_protocol(limits: ServerLimits) -> type[H11Protocol]:
    """Return what carries HTTP and cuts off who has far too many connections, or is too slow.

    Slow is who takes too long for a request, the first or a later one, its head or its body, or
    does not read what is answered. It counts apart from the sessions: a browser keeps several
    connections for each page. One that becomes a WebSocket is counted there.
    """
    door = AdmissionControl(limits, None)

    class LimitedHttp(H11Protocol):
        _slot: ConnectionSlot
        _request_timer: asyncio.TimerHandle
        _write_timer: asyncio.TimerHandle | None = None
        _started: float  # when a request was begun to be waited for
        _received = 0  # bytes since then

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._slot = door.open_slot(self.client[0] if self.client else "?")
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
            """Wait for a request from now on."""
            self._started, self._received = self.loop.time(), 0
            self._request_timer = self.loop.call_later(limits.authorising, self._check_progress)

        def _check_progress(self) -> None:
            """Cut off whose request is not here by now, or who has not read the last answer."""
            cycle = self.cycle
            if cycle is not None and not cycle.response_complete and not cycle.more_body:
                return  # it is being answered
            seconds = limits.authorising + min(self._received, MAX_BODY_BYTES) / MIN_BYTES_PER_S
            if self.transport.get_write_buffer_size():
                seconds = max(seconds, WRITE_TIMEOUT_S)
            left = self._started + seconds - self.loop.time()
            if left > 0:
                self._request_timer = self.loop.call_later(left, self._check_progress)
            else:
                self.transport.abort()

        def _release(self) -> None:
            self._request_timer.cancel()
            if self._write_timer is not None:
                self._write_timer.cancel()
            self._slot.close()

    return LimitedHttp
