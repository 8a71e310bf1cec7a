"""HTTP listeners for WebSocket sessions, /health and /metrics."""

from __future__ import annotations

import asyncio
import functools
import logging
import ssl
from collections.abc import Iterable, Iterator, Sequence
from http import HTTPStatus
from itertools import islice
from typing import Any, Protocol

from websockets.asyncio.server import Server as WebServer
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed, ConnectionClosedOK
from websockets.frames import CloseCode
from websockets.http11 import Request, Response

from agent.io.sanitize import sanitize_name
from protocols import urls
from protocols.line_splitter import LineSplitter
from protocols.server.addresses import Address
from protocols.server.admission import (
    AdmissionControl,
    ConnectionSlot,
    RejectedError,
    bearer_token,
    client_key,
)
from protocols.server.limits import ServerLimits
from protocols.server.metrics import CONTENT_TYPE
from protocols.server.network_session import CLOSE_TIMEOUT_S
from protocols.server.tls_listener import Handshakes, listening
from protocols.server.transport import (
    CHUNK_BYTES,
    MAX_LINES_AT_ONCE,
    PEER_TIMEOUT_S,
    ConnectionLostError,
    Transport,
    is_hung_up,
    peer_names,
)
from protocols.sockets import configure_socket

# Limits of a message, which may hold several lines of maximum length, and of messages read ahead.
_MAX_LINES_PER_MESSAGE = 4
_MAX_QUEUED_MESSAGES = 4

# Silence the package's logger: client errors go to the server's event log instead.
_null_logger = logging.getLogger(__name__)
_null_logger.propagate = False
_null_logger.addHandler(logging.NullHandler())


class SessionServer(Protocol):
    """The part of `Server` that listeners use. Importing `Server` here would be circular."""

    protocol: str  # the default
    limits: ServerLimits
    admission: AdmissionControl
    handshakes: Handshakes
    shutting_down: bool

    def supports(self, protocol: str) -> bool: ...

    def metrics_text(self) -> str: ...

    def log_rejection(self, peer: str, over: str, error: RejectedError) -> None: ...

    async def serve_client(
        self, transport: Transport, slot: ConnectionSlot, protocol: str, over: str
    ) -> None: ...


class WebSocketTransport:
    """A transport over WebSocket. Each message has one or more lines."""

    def __init__(self, connection: CountedConnection, max_line: int) -> None:
        self.host, self.peer = connection.host, connection.peer
        self._connection = connection
        self._max_line = max_line
        self._lines: Iterator[str | None] = iter(())
        configure_socket(connection.transport.get_extra_info("socket"), PEER_TIMEOUT_S)

    async def receive(self) -> list[str | None]:
        await asyncio.sleep(0)  # lets other clients be served between two parts of a message
        while not (lines := list(islice(self._lines, MAX_LINES_AT_ONCE))):
            try:
                message = await self._connection.recv(decode=False)
            except ConnectionClosedOK:
                raise ConnectionLostError("closed") from None
            except ConnectionClosed as error:
                too_big = error.sent is not None and error.sent.code == CloseCode.MESSAGE_TOO_BIG
                raise ConnectionLostError("message too long" if too_big else "lost") from None
            self._lines = _split(message, self._max_line)
        return lines

    def is_lost(self) -> bool:
        return is_hung_up(self._connection.transport, half=True)

    def is_half_closed(self) -> bool:
        return self.is_lost()  # a WebSocket cannot be closed on one side only

    async def write(self, lines: Sequence[bytes]) -> None:
        """Write each line as a separate message."""
        try:
            for line in lines:
                await self._connection.send(line, text=True)
        except ConnectionClosed:
            raise ConnectionLostError from None

    async def close(self) -> None:
        await self._connection.close()

    def abort(self) -> None:
        self._connection.transport.abort()


class CountedConnection(ServerConnection):
    """A connection that occupies a slot in admission control during its whole lifetime."""

    slot: ConnectionSlot
    host: str
    peer: str

    def __init__(self, listener: SessionServer, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._listener = listener

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.host, self.peer = peer_names(transport.get_extra_info("peername"))
        self._listener.handshakes.end(transport.get_extra_info("socket"))
        self.slot = self._listener.admission.open_slot(self.host, self._drop)
        super().connection_made(transport)
        if self.slot.over_hard_limit:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.slot.close()
        super().connection_lost(exc)

    def _drop(self) -> bool:
        self.transport.abort()
        return True


class WebListener:
    """An HTTP listener. With `status_only`, it serves only /health and /metrics."""

    _web_server: WebServer

    def __init__(self, server: SessionServer, scheme: str, *, status_only: bool) -> None:
        self._server = server
        self._scheme = scheme
        self._status_only = status_only

    async def listen(self, address: Address, tls: ssl.SSLContext | None) -> Address:
        """Start listening. Return the address with the actual port. Raise OSError on failure."""
        limits = self._server.limits
        self._web_server = await serve(
            self._serve,  # type: ignore[arg-type]
            **listening(address, self._server.handshakes),
            ssl=tls,
            process_request=self._process_request,  # type: ignore[arg-type]
            create_connection=functools.partial(  # type: ignore[arg-type]
                CountedConnection, self._server
            ),
            compression=None,
            server_header=None,
            logger=_null_logger,
            open_timeout=limits.auth_timeout,
            close_timeout=CLOSE_TIMEOUT_S,
            ping_interval=PEER_TIMEOUT_S / 4,
            ping_timeout=PEER_TIMEOUT_S / 2,
            max_size=_MAX_LINES_PER_MESSAGE * limits.line_bytes,
            max_queue=_MAX_QUEUED_MESSAGES,
            ssl_handshake_timeout=None if tls is None else limits.auth_timeout,
            ssl_shutdown_timeout=None if tls is None else CLOSE_TIMEOUT_S,
        )
        return address.with_port(next(iter(self._web_server.sockets)).getsockname()[1])

    def close(self) -> None:
        """Stop accepting connections. Connections with a session stay open."""
        self._web_server.close(close_connections=False)

    async def wait_closed(self) -> None:
        """Abort the remaining connections and wait until they have ended."""
        for connection in self._web_server.handlers:
            connection.transport.abort()
        await self._web_server.wait_closed()

    async def _serve(self, connection: CountedConnection) -> None:
        assert connection.request is not None
        transport = WebSocketTransport(connection, self._server.limits.line_bytes)
        protocol = _path(connection.request).strip("/") or self._server.protocol
        await self._server.serve_client(transport, connection.slot, protocol, self._scheme)

    def _process_request(self, connection: CountedConnection, request: Request) -> Response | None:
        """Respond to an HTTP request, or return None to accept a WebSocket."""
        try:
            return self._respond(connection, request)
        except RejectedError as error:
            self._server.log_rejection(connection.peer, self._scheme, error)
            response = connection.respond(error.http_status, f"refused {error}\n")
            response.headers.update(error.http_headers)
            return response

    def _respond(self, connection: CountedConnection, request: Request) -> Response | None:
        server, slot, headers = self._server, connection.slot, request.headers
        has_tokens = server.admission.tokens is not None
        origins, hosts = headers.get_all("Origin"), headers.get_all("Host")
        foreign = server.admission.is_foreign(origins, hosts, headers.get_all("Sec-Fetch-Site"))
        server.admission.charge_request(client_key(connection.host, foreign=foreign))
        path, token = _path(request), bearer_token(headers.get_all("Authorization"))
        if path == "/health":
            if server.shutting_down:
                return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, "ending\n")
            return connection.respond(HTTPStatus.OK, "ok\n")
        if path == "/metrics":
            if has_tokens and not self._status_only:
                if token is None:
                    raise RejectedError(
                        "token", "missing token (expected Authorization: Bearer TOKEN)"
                    )
                slot.check_token(token)
            response = connection.respond(HTTPStatus.OK, server.metrics_text())
            del response.headers["Content-Type"]
            response.headers["Content-Type"] = CONTENT_TYPE
            return response
        if self._status_only:
            raise RejectedError("path", "only /health and /metrics are available here")
        server.admission.check_origin(origins, hosts)
        if (name := path.strip("/")) and not server.supports(name):
            raise RejectedError("path", f"unknown protocol {sanitize_name(name)}")
        check_handshake(headers.raw_items())
        slot.check_limits()
        if token is not None and has_tokens:
            slot.authenticate(token)
        return None


def check_handshake(headers: Iterable[tuple[str, str]]) -> None:
    """Raise RejectedError if a header of the WebSocket handshake is not ASCII.

    The websockets package would not reject such a request, but raise an unhandled exception.
    """
    for name, value in headers:
        relevant = name.lower().startswith(("connection", "upgrade", "sec-websocket-"))
        if relevant and not value.isascii():
            raise RejectedError("handshake", f"{name}: must be ASCII")


def _split(message: bytes, max_line: int) -> Iterator[str | None]:
    splitter = LineSplitter(max_line)
    for start in range(0, len(message), CHUNK_BYTES):
        yield from splitter.feed(message[start : start + CHUNK_BYTES])
    yield from splitter.end()


def _path(request: Request) -> str:
    return urls.split_url_leniently(request.path).path
