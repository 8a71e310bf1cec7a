"""HTTP listeners for WebSocket sessions, /health and /metrics."""

from __future__ import annotations

import asyncio
import logging
import math
import ssl
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import Server as WebServer
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed, ConnectionClosedOK
from websockets.frames import CloseCode
from websockets.http11 import Request, Response

from protocols import urls
from protocols.line_splitter import LineSplitter
from protocols.server.addresses import Address, is_ip_or_localhost
from protocols.server.admission import ConnectionSlot, RejectedError, client_key
from protocols.server.metrics import CONTENT_TYPE
from protocols.server.network_session import CLOSE_TIMEOUT_S
from protocols.server.session_host import SessionHost
from protocols.server.transport import (
    PEER_TIMEOUT_S,
    ConnectionLostError,
    configure_socket,
    peer_names,
)

# Limits of a message, which may hold several lines of maximum length, and of messages read ahead.
_MAX_LINES_PER_MESSAGE = 4
_MAX_QUEUED_MESSAGES = 4
_HTTP_STATUS = {
    "token": HTTPStatus.UNAUTHORIZED,
    "origin": HTTPStatus.FORBIDDEN,
    "path": HTTPStatus.NOT_FOUND,
    "requests": HTTPStatus.TOO_MANY_REQUESTS,
}

# Silence the package's logger: client errors go to the server's event log instead.
_null_logger = logging.getLogger(__name__)
_null_logger.propagate = False
_null_logger.addHandler(logging.NullHandler())


class WebSocketTransport:
    """A transport over WebSocket. Each message has one or more lines."""

    def __init__(self, connection: ServerConnection, max_line: int) -> None:
        self.host, self.peer = peer_names(connection.remote_address)
        self._connection = connection
        self._max_line = max_line
        configure_socket(connection.transport.get_extra_info("socket"))

    async def receive(self) -> list[str | None]:
        while True:
            try:
                message = await self._connection.recv(decode=False)
            except ConnectionClosedOK:
                raise ConnectionLostError("closed") from None
            except ConnectionClosed as error:
                too_big = error.sent is not None and error.sent.code == CloseCode.MESSAGE_TOO_BIG
                raise ConnectionLostError("message too long" if too_big else "lost") from None
            splitter = LineSplitter(self._max_line)
            if lines := [*splitter.feed(message), *splitter.end()]:
                return lines

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
    listener: WebListener

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        host, _ = peer_names(transport.get_extra_info("peername"))
        self.slot = self.listener.open_slot(host)
        super().connection_made(transport)
        if self.slot.over_hard_limit:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.slot.close()
        super().connection_lost(exc)


class WebListener:
    """An HTTP listener. With `status_only`, it serves only /health and /metrics."""

    def __init__(self, server: SessionHost, *, status_only: bool) -> None:
        self._server = server
        self._status_only = status_only
        self._web_server: WebServer | None = None
        self._scheme = ""

    async def listen(self, address: Address, tls: ssl.SSLContext | None) -> Address:
        """Start listening. Return the address with the actual port. Raise OSError on failure."""
        limits = self._server.limits
        self._scheme = address.scheme
        self._web_server = await serve(
            self._serve,
            address.host,
            address.port,
            ssl=tls,
            process_request=self._process_request,
            create_connection=self._create_connection,  # type: ignore[arg-type]
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

    def open_slot(self, host: str) -> ConnectionSlot:
        return self._server.admission.open_slot(host)

    def close(self) -> None:
        """Stop accepting connections. Connections with a session stay open."""
        if self._web_server is not None:
            self._web_server.close(close_connections=False)

    async def wait_closed(self) -> None:
        """Abort the remaining connections and wait until they have ended."""
        if self._web_server is not None:
            for connection in self._web_server.handlers:
                connection.transport.abort()
            await self._web_server.wait_closed()

    def _create_connection(self, *arguments: Any, **settings: Any) -> CountedConnection:
        connection = CountedConnection(*arguments, **settings)
        connection.listener = self
        return connection

    async def _serve(self, connection: ServerConnection) -> None:
        assert isinstance(connection, CountedConnection)
        assert connection.request is not None
        transport = WebSocketTransport(connection, self._server.limits.line_bytes)
        protocol = _protocol_in_path(connection.request) or self._server.protocol
        await self._server.serve_client(transport, connection.slot, protocol, self._scheme)

    def _process_request(self, connection: ServerConnection, request: Request) -> Response | None:
        """Respond to an HTTP request, or return None to accept a WebSocket."""
        assert isinstance(connection, CountedConnection)
        try:
            return self._respond(connection, request)
        except RejectedError as error:
            _, peer = peer_names(connection.remote_address)
            self._server.log_rejection(peer, self._scheme, error)
            status = _HTTP_STATUS.get(error.code, HTTPStatus.SERVICE_UNAVAILABLE)
            response = connection.respond(status, f"refused {error}\n")
            if error.retry_after:
                response.headers["Retry-After"] = str(math.ceil(error.retry_after))
            return response

    def _respond(self, connection: CountedConnection, request: Request) -> Response | None:
        server, slot = self._server, connection.slot
        server.admission.charge_request(client_key(peer_names(connection.remote_address)[0]))
        path = urls.split_url_leniently(request.path).path
        if path == "/health":
            if server.shutting_down:
                return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, "ending\n")
            return connection.respond(HTTPStatus.OK, "ok\n")
        token = _bearer_token(request)
        if path == "/metrics":
            if server.admission.tokens is not None and not self._status_only:
                self._check_token(token, slot)
            response = connection.respond(HTTPStatus.OK, server.metrics_text())
            del response.headers["Content-Type"]
            response.headers["Content-Type"] = CONTENT_TYPE
            return response
        if self._status_only:
            raise RejectedError("path", "only /health and /metrics are available here")
        self._check_origin(request)
        if (name := _protocol_in_path(request)) and not server.supports(name):
            raise RejectedError("path", f"unknown protocol {name}")
        slot.check_limits()
        if token is not None and server.admission.tokens is not None:
            slot.authenticate(token)
        return None

    def _check_token(self, token: str | None, slot: ConnectionSlot) -> None:
        if token is None:
            raise RejectedError("token", "missing token (expected Authorization: Bearer TOKEN)")
        slot.check_token(token)

    def _check_origin(self, request: Request) -> None:
        """Reject web pages from other origins. Programs send no Origin header.

        Without tokens, the host must be an IP address or localhost, to prevent DNS rebinding.
        """
        server = self._server
        own_hosts = {
            host.lower()
            for host in request.headers.get_all("Host")
            if server.admission.tokens is not None
            or is_ip_or_localhost(urls.split_url_leniently(f"//{host}").hostname)
        }
        for origin in request.headers.get_all("Origin"):
            host = urls.split_url_leniently(origin).netloc.lower()
            if host not in own_hosts and origin.lower() not in server.origins:
                raise RejectedError("origin", "requests from this origin are not allowed")


def _protocol_in_path(request: Request) -> str:
    return urls.split_url_leniently(request.path).path.strip("/")


def _bearer_token(request: Request) -> str | None:
    for value in request.headers.get_all("Authorization"):
        scheme, _, token = value.partition(" ")
        if scheme.lower() == "bearer":
            return token.strip()
    return None
