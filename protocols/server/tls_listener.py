"""Listening sockets for TLS, which count connections from the beginning of their handshake."""

from __future__ import annotations

import contextlib
import gc
import ipaddress
import socket
import time
from typing import Any

from protocols.server.addresses import Address
from protocols.server.admission import AdmissionControl, ConnectionSlot

# A failed handshake leaves a cycle with 256 KB behind, which Python counts as a few objects.
FAILED_PER_GC, GC_INTERVAL_S = 100, 1.0


class Handshakes:
    """The TLS handshakes in progress. Each occupies a slot, and is dropped like other waiting ones.

    asyncio reports a connection only after its handshake. Without this count, silent clients could
    use up memory and files.
    """

    def __init__(self, admission: AdmissionControl) -> None:
        self._admission = admission
        self._slots: dict[int, tuple[socket.socket, ConnectionSlot]] = {}
        self._failed = 0
        self._collected = time.monotonic()

    def begin(self, connection: socket.socket, host: str) -> None:
        """Count an accepted connection until `end` is called or it is closed."""

        def drop() -> bool:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)  # asyncio then closes it
            return True

        for number, (other, slot) in list(self._slots.items()):
            if other.fileno() < 0:
                slot.close()
                del self._slots[number]
                self._failed += 1
        if self._failed >= FAILED_PER_GC and time.monotonic() - self._collected > GC_INTERVAL_S:
            self._failed, self._collected = 0, time.monotonic()
            gc.collect()
        slot = self._admission.open_slot(host, drop)
        self._slots[connection.fileno()] = connection, slot
        if slot.over_hard_limit:
            slot.drop()

    def end(self, connection: Any) -> None:
        """Stop counting a connection, which may be a socket of asyncio."""
        if (found := self._slots.pop(connection.fileno(), None)) is not None:
            found[1].close()


class TlsListener(socket.socket):
    """A listening socket that reports accepted connections to `handshakes`.

    On Windows, asyncio does not call `accept`, so handshakes are not counted.
    """

    def __init__(self, listening: socket.socket, handshakes: Handshakes) -> None:
        super().__init__(listening.family, listening.type, fileno=listening.detach())
        self._handshakes = handshakes

    def accept(self) -> tuple[socket.socket, Any]:
        connection, peer = super().accept()
        self._handshakes.begin(connection, peer[0])
        return connection, peer


def listening(address: Address, handshakes: Handshakes) -> dict[str, Any]:
    """Return where to listen, as arguments of asyncio's `create_server`.

    A TLS address counts its handshakes, unless it is a host name, which may have several addresses.
    """
    try:
        version = ipaddress.ip_address(address.host).version if address.uses_tls else 0
    except ValueError:
        version = 0
    if not version:
        return {"host": address.host, "port": address.port}
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    listener = socket.create_server((address.host, address.port), family=family)
    return {"sock": TlsListener(listener, handshakes)}
