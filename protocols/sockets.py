"""TCP options that the server and its clients share."""

from __future__ import annotations

import contextlib
import socket
from typing import Any

KEEPALIVE_PROBES = 4


def configure_socket(connection: Any, timeout: int) -> None:
    """Disable Nagle's algorithm, and detect a lost peer within `timeout` seconds.

    The peer is probed after it has been silent for half of that time. The `connection` may be a
    socket of asyncio.
    """
    interval = timeout // 2 // KEEPALIVE_PROBES
    for level, name, value in (
        (socket.IPPROTO_TCP, "TCP_NODELAY", 1),
        (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
        (socket.IPPROTO_TCP, "TCP_KEEPIDLE", timeout // 2),
        (socket.IPPROTO_TCP, "TCP_KEEPALIVE", timeout // 2),  # macOS's name
        (socket.IPPROTO_TCP, "TCP_KEEPINTVL", interval),
        (socket.IPPROTO_TCP, "TCP_KEEPCNT", KEEPALIVE_PROBES),
        (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", timeout * 1000),
    ):
        if hasattr(socket, name):
            with contextlib.suppress(OSError):  # The connection has ended.
                connection.setsockopt(level, getattr(socket, name), value)
