"""What the doors of a server ask of it."""

from __future__ import annotations

from typing import Protocol

from protocols.server.admission import AdmissionControl, ConnectionSlot, RejectedError
from protocols.server.limits import ServerLimits
from protocols.server.transport import Transport


class SessionHost(Protocol):
    """Whoever serves the clients of all addresses.

    protocol: spoken where a client names none. origins: the web pages that may come from elsewhere.
    ending: nobody is let in any more.
    """

    protocol: str
    limits: ServerLimits
    admission: AdmissionControl
    origins: frozenset[str]
    shutting_down: bool

    def supports(self, protocol: str) -> bool:
        """Tell whether a protocol is spoken here."""

    def metrics_text(self) -> str:
        """Return what `/metrics` answers."""

    def log_rejection(self, peer: str, over: str, error: RejectedError) -> None:
        """Take note of somebody who was refused before there was a wire."""

    async def serve_client(
        self, wire: Transport, slot: ConnectionSlot, protocol: str, over: str
    ) -> None:
        """Serve a client until its session ends, or refuse it."""
