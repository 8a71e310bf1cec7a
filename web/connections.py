"""Connections before they have asked for anything: how many there may be, and for how long."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from protocols.server.door import Door, Guest
from protocols.server.limits import ServerLimits


def counted(limits: ServerLimits) -> type[H11Protocol]:
    """Return what carries HTTP and cuts off whoever has far too many connections, or says nothing.

    It counts apart from the sessions: a browser keeps several connections for each page. One that
    becomes a WebSocket is counted there.
    """
    door = Door(limits, None)

    class CountedHttp(H11Protocol):
        _guest: Guest
        _patience: asyncio.TimerHandle

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._guest = door.knock(self.client[0] if self.client else "?")
            self._patience = self.loop.call_later(limits.authorising, self._look)
            if self._guest.crowding:
                transport.abort()

        def connection_lost(self, exc: Exception | None) -> None:
            self._leave()
            super().connection_lost(exc)

        def handle_websocket_upgrade(self, event: h11.Request) -> None:
            self._leave()
            super().handle_websocket_upgrade(event)

        def _look(self) -> None:
            """Cut off who has asked for nothing yet."""
            if self.cycle is None:
                self.transport.abort()

        def _leave(self) -> None:
            self._patience.cancel()
            self._guest.leave()

    return CountedHttp
