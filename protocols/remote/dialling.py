"""A connection to a server, over whichever wire its address asks for."""

from __future__ import annotations

import ssl
import time

from protocols.remote.wire import (
    ByteStream,
    NoServerError,
    NotAdmittedError,
    PlainLines,
    ServerLines,
    TcpWire,
    TlsWire,
)
from protocols.server.addresses import Address


def dial(
    address: Address,
    protocol: str,
    trust: ssl.SSLContext | None,
    token: str | None,
    limit: float,
) -> ServerLines:
    """Connect within about `limit` seconds and show the token.

    Raises OSError where that cannot be, also for a certificate that is not trusted, and
    NotAdmittedError.
    """
    began = time.monotonic()
    tcp = TcpWire(address, limit)
    try:
        wire: ByteStream = tcp
        if address.secure:
            assert trust is not None
            wire = TlsWire(tcp, trust, address.host)
        if address.web:
            from protocols.remote.websocket import MessageLines

            lines: ServerLines = MessageLines(wire, address, protocol, token, began + limit)
        else:
            lines = PlainLines(wire)
            if token is not None:
                _authorize(lines, token)
        tcp.settle()
    except BaseException:
        tcp.close()
        raise
    return lines


def _authorize(lines: ServerLines, token: str) -> None:
    lines.send([f"authorize {token}"])
    (answer, *_) = lines.receive()
    word, _, reason = answer.partition(" ")
    if word == "refused":
        raise NotAdmittedError(reason or "it does not say why")
    if answer != "authorized":
        raise NoServerError("the server did not answer the token")
