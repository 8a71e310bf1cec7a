from __future__ import annotations

from typing import Protocol

from protocols.server.admission import AdmissionControl, ConnectionSlot, RejectedError
from protocols.server.limits import ServerLimits
from protocols.server.transport import Transport


class SessionHost(Protocol):
    """The interface through which listeners use the server.

    The default protocol is `protocol`. Web pages from `origins` may open a WebSocket.
    """

    protocol: str
    limits: ServerLimits
    admission: AdmissionControl
    origins: frozenset[str]
    shutting_down: bool

    def supports(self, protocol: str) -> bool:
        """Return whether clients may use a protocol."""

    def metrics_text(self) -> str:
        """Return the response body for `/metrics`."""

    def log_rejection(self, peer: str, over: str, error: RejectedError) -> None:
        """Count and log a client that was rejected before it had a transport."""

    async def serve_client(
        self, transport: Transport, slot: ConnectionSlot, protocol: str, over: str
    ) -> None:
        """Serve a client until its session ends, or reject it. Raises only CancelledError."""
