"""What the doors of a server ask of it."""

from __future__ import annotations

from typing import Protocol

from protocols.server.door import Door, Guest, RefusedError
from protocols.server.limits import ServerLimits
from protocols.server.wire import Wire


class Host(Protocol):
    """Whoever serves the clients of all addresses.

    protocol: spoken where a client names none. origins: the web pages that may come from elsewhere.
    ending: nobody is let in any more.
    """

    protocol: str
    limits: ServerLimits
    door: Door
    origins: frozenset[str]
    ending: bool

    def serves(self, protocol: str) -> bool:
        """Tell whether a protocol is spoken here."""

    def status(self) -> str:
        """Return what `/metrics` answers."""

    def note_refusal(self, peer: str, over: str, error: RefusedError) -> None:
        """Take note of somebody who was refused before there was a wire."""

    async def visit(self, wire: Wire, guest: Guest, protocol: str, over: str) -> None:
        """Serve a client until its session ends, or refuse it."""
