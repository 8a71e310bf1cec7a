"""Connect to a server over TCP, TLS or WebSocket."""

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
    timeout: float,
) -> LineChannel:
    """Connect within about `timeout` seconds and send the token.

    Raise OSError if the connection fails, and ServerRejectedError if the server rejects the client.
    """
    started = time.monotonic()
    tcp = TcpStream(address, timeout)
    try:
        stream: ByteStream = tcp
        if address.uses_tls:
            assert trust is not None
            stream = TlsStream(tcp, trust, address.host)
        if address.uses_http:
            from protocols.remote.websocket import WebSocketLineChannel

            lines: LineChannel = WebSocketLineChannel(
                stream, address, protocol, token, started + timeout
            )
        else:
            lines = StreamLineChannel(stream)
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
        raise ServerRejectedError(reason or "no reason given")
    if answer != "authorized":
        raise ServerConnectionError("no valid answer to the token")
