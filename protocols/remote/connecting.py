"""A connection to a server, over whichever wire its address asks for."""

from __future__ import annotations

import ssl
import time

from protocols.remote.transport import (
    ByteStream,
    LineChannel,
    ServerConnectionError,
    ServerRejectedError,
    StreamLineChannel,
    TcpStream,
    TlsStream,
)
from protocols.server.addresses import Address


def connect(
    address: Address,
    protocol: str,
    trust: ssl.SSLContext | None,
    token: str | None,
    limit: float,
) -> LineChannel:
    """Connect within about `limit` seconds and show the token.

    Raises OSError where that cannot be, also for a certificate that is not trusted, and
    ServerRejectedError.
    """
    began = time.monotonic()
    tcp = TcpStream(address, limit)
    try:
        wire: ByteStream = tcp
        if address.uses_tls:
            assert trust is not None
            wire = TlsStream(tcp, trust, address.host)
        if address.uses_http:
            from protocols.remote.websocket import WebSocketLineChannel

            lines: LineChannel = WebSocketLineChannel(wire, address, protocol, token, began + limit)
        else:
            lines = StreamLineChannel(wire)
            if token is not None:
                _authorize(lines, token)
        tcp.use_send_timeout()
    except BaseException:
        tcp.close()
        raise
    return lines


def _authorize(lines: LineChannel, token: str) -> None:
    lines.send([f"authorize {token}"])
    (answer, *_) = lines.receive()
    word, _, reason = answer.partition(" ")
    if word == "refused":
        raise ServerRejectedError(reason or "it does not say why")
    if answer != "authorized":
        raise ServerConnectionError("the server did not answer the token")
