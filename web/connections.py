"""Connections that carry HTTP: how many there may be, and how long they may keep us waiting."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from protocols.server.door import Door, Guest
from protocols.server.limits import ServerLimits
from protocols.server.remote_session import STALLED
from web.guard import MOST_BODY

# A request may take as long as `limits.authorising` says, and a second more for so many bytes of
# it; what is longer than any that is read has no more.
BYTES_A_SECOND = 16 << 10


def counted(limits: ServerLimits) -> type[H11Protocol]:
    """Return what carries HTTP and cuts off who has far too many connections, or is too slow.

    Slow is who takes too long for a request, the first or a later one, its head or its body, or
    does not read what is answered. It counts apart from the sessions: a browser keeps several
    connections for each page. One that becomes a WebSocket is counted there.
    """
    door = Door(limits, None)

    class CountedHttp(H11Protocol):
        _guest: Guest
        _patience: asyncio.TimerHandle
        _stalled: asyncio.TimerHandle | None = None
        _began: float  # when a request was begun to be waited for
        _received = 0  # bytes since then

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._guest = door.knock(self.client[0] if self.client else "?")
            self._wait()
            if self._guest.crowding:
                transport.abort()

        def connection_lost(self, exc: Exception | None) -> None:
            self._leave()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if not self._received:
                self._began = self.loop.time()
            self._received += len(data)
            super().data_received(data)

        def on_response_complete(self) -> None:
            self._patience.cancel()
            self._wait()
            super().on_response_complete()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._stalled = self.loop.call_later(STALLED, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            if self._stalled is not None:
                self._stalled.cancel()

        def handle_websocket_upgrade(self, event: h11.Request) -> None:
            self._leave()
            super().handle_websocket_upgrade(event)

        def _wait(self) -> None:
            """Wait for a request from now on."""
            self._began, self._received = self.loop.time(), 0
            self._patience = self.loop.call_later(limits.authorising, self._look)

        def _look(self) -> None:
            """Cut off whose request is not here by now, or who has not read the last answer."""
            cycle = self.cycle
            if cycle is not None and not cycle.response_complete and not cycle.more_body:
                return  # it is being answered
            seconds = limits.authorising + min(self._received, MOST_BODY) / BYTES_A_SECOND
            if self.transport.get_write_buffer_size():
                seconds = max(seconds, STALLED)
            left = self._began + seconds - self.loop.time()
            if left > 0:
                self._patience = self.loop.call_later(left, self._look)
            else:
                self.transport.abort()

        def _leave(self) -> None:
            self._patience.cancel()
            if self._stalled is not None:
                self._stalled.cancel()
            self._guest.leave()

    return CountedHttp
