"""The server's addresses on the web: sessions over WebSocket, and over HTTP how it is.

Needs the package websockets. Source: RFC 6455, of which the package does what is said there of
frames; here is who may open a WebSocket.
"""

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
from protocols.lines import LineSplitter
from protocols.server.addresses import Address, names_machine
from protocols.server.door import Guest, RefusedError, visitor
from protocols.server.host import Host
from protocols.server.metrics import CONTENT_TYPE
from protocols.server.remote_session import LAST_WORDS
from protocols.server.wire import VANISHED, WireLostError, names_of, tend

# A message may hold several lines: so many of the longest. So many messages are read ahead.
_LINES_OF_MESSAGE = 4
_AHEAD = 4
_STATUS = {
    "token": HTTPStatus.UNAUTHORIZED,
    "origin": HTTPStatus.FORBIDDEN,
    "path": HTTPStatus.NOT_FOUND,
    "requests": HTTPStatus.TOO_MANY_REQUESTS,
}

# The package's own log: what strangers do wrong is in the server's, by the server's own words.
_silent = logging.getLogger(__name__)
_silent.propagate = False
_silent.addHandler(logging.NullHandler())


class WebSocketWire:
    """A wire over WebSocket: a message has one line, or several."""

    def __init__(self, connection: ServerConnection, longest: int) -> None:
        self.host, self.peer = names_of(connection.remote_address)
        self._connection = connection
        self._longest = longest
        tend(connection.transport.get_extra_info("socket"))

    async def receive(self) -> list[str | None]:
        """Return the lines of the next message, as of every wire."""
        while True:
            try:
                message = await self._connection.recv(decode=False)
            except ConnectionClosedOK:
                raise WireLostError("closed") from None
            except ConnectionClosed as error:
                too_big = error.sent is not None and error.sent.code == CloseCode.MESSAGE_TOO_BIG
                raise WireLostError("too long a message" if too_big else "lost") from None
            splitter = LineSplitter(self._longest)
            if lines := [*splitter.feed(message), *splitter.end()]:
                return lines

    async def write(self, lines: Sequence[bytes]) -> None:
        """Write lines, each a message, as to every wire."""
        try:
            for line in lines:
                await self._connection.send(line, text=True)
        except ConnectionClosed:
            raise WireLostError from None

    async def close(self) -> None:
        """End the connection in order."""
        await self._connection.close()

    def abort(self) -> None:
        """Cut the connection off."""
        self._connection.transport.abort()


class WebConnection(ServerConnection):
    """A connection that is counted from its first moment to its last."""

    guest: Guest
    web: WebDoor

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count it, and cut it off if there are far too many."""
        host, _ = names_of(transport.get_extra_info("peername"))
        self.guest = self.web.knock(host)
        super().connection_made(transport)
        if self.guest.crowding:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Count it no more."""
        self.guest.leave()
        super().connection_lost(exc)


class WebDoor:
    """One address on the web. status_alone: there are no sessions at it."""

    def __init__(self, server: Host, *, status_alone: bool) -> None:
        self._server = server
        self._status_alone = status_alone
        self._web: WebServer | None = None
        self._scheme = ""

    async def open(self, address: Address, tls: ssl.SSLContext | None) -> Address:
        """Listen, and return the address with the port that it got. Raises OSError."""
        limits = self._server.limits
        self._scheme = address.scheme
        self._web = await serve(
            self._visit,
            address.host,
            address.port,
            ssl=tls,
            process_request=self._answer,
            create_connection=self._make,  # type: ignore[arg-type]
            compression=None,
            server_header=None,
            logger=_silent,
            open_timeout=limits.authorising,
            close_timeout=LAST_WORDS,
            ping_interval=VANISHED / 4,
            ping_timeout=VANISHED / 2,
            max_size=_LINES_OF_MESSAGE * limits.line_bytes,
            max_queue=_AHEAD,
            ssl_handshake_timeout=None if tls is None else limits.authorising,
            ssl_shutdown_timeout=None if tls is None else LAST_WORDS,
        )
        return address.at(next(iter(self._web.sockets)).getsockname()[1])

    def knock(self, host: str) -> Guest:
        """Count a connection."""
        return self._server.door.knock(host)

    def close(self) -> None:
        """Take no more connections; what goes on is left to its session."""
        if self._web is not None:
            self._web.close(close_connections=False)

    async def wait_closed(self) -> None:
        """Wait until the last connection has ended."""
        if self._web is not None:
            for connection in self._web.handlers:
                connection.transport.abort()
            await self._web.wait_closed()

    def _make(self, *arguments: Any, **settings: Any) -> WebConnection:
        connection = WebConnection(*arguments, **settings)
        connection.web = self
        return connection

    async def _visit(self, connection: ServerConnection) -> None:
        assert isinstance(connection, WebConnection)
        assert connection.request is not None
        wire = WebSocketWire(connection, self._server.limits.line_bytes)
        protocol = _named(connection.request) or self._server.protocol
        await self._server.visit(wire, connection.guest, protocol, self._scheme)

    def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """Answer a request over HTTP; None lets it open a WebSocket."""
        assert isinstance(connection, WebConnection)
        try:
            return self._told(connection, request)
        except RefusedError as error:
            _, peer = names_of(connection.remote_address)
            self._server.note_refusal(peer, self._scheme, error)
            status = _STATUS.get(error.kind, HTTPStatus.SERVICE_UNAVAILABLE)
            response = connection.respond(status, f"refused {error}\n")
            if error.seconds:
                response.headers["Retry-After"] = str(math.ceil(error.seconds))
            return response

    def _told(self, connection: WebConnection, request: Request) -> Response | None:
        server, guest = self._server, connection.guest
        server.door.count_request(visitor(names_of(connection.remote_address)[0]))
        path = urls.split_any(request.path).path
        if path == "/health":
            if server.ending:
                return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, "ending\n")
            return connection.respond(HTTPStatus.OK, "ok\n")
        token = _bearer(request)
        if path == "/metrics":
            if server.door.tokens is not None and not self._status_alone:
                self._name_of(token, guest)
            response = connection.respond(HTTPStatus.OK, server.status())
            del response.headers["Content-Type"]
            response.headers["Content-Type"] = CONTENT_TYPE
            return response
        if self._status_alone:
            raise RefusedError("path", "here are /health and /metrics alone")
        self._check_origin(request)
        if (name := _named(request)) and not server.serves(name):
            raise RefusedError("path", f"{name} is not served here")
        guest.check()
        if token is not None and server.door.tokens is not None:
            guest.authorise(token)
        return None

    def _name_of(self, token: str | None, guest: Guest) -> None:
        """Raise RefusedError unless a token is somebody's."""
        if token is None:
            raise RefusedError("token", "send the header Authorization: Bearer and your token")
        guest.known(token)

    def _check_origin(self, request: Request) -> None:
        """Refuse web pages that are neither of our own host nor allowed; programs send no Origin.

        A browser sends whoever's page it shows, so that pages of strangers cannot use a server
        that only this machine, or this network, reaches. Where no token is asked for, a host with
        a name is not ours for certain: a stranger's name may lead here.
        """
        server = self._server
        own = {
            host.lower()
            for host in request.headers.get_all("Host")
            if server.door.tokens is not None or names_machine(urls.split_any(f"//{host}").hostname)
        }
        for origin in request.headers.get_all("Origin"):
            host = urls.split_any(origin).netloc.lower()
            if host not in own and origin.lower() not in server.origins:
                raise RefusedError("origin", "pages of your origin may not use this server")


def _named(request: Request) -> str:
    """Return the protocol that a path names, or nothing."""
    return urls.split_any(request.path).path.strip("/")


def _bearer(request: Request) -> str | None:
    """Return the token of a request's header, if it has one."""
    for value in request.headers.get_all("Authorization"):
        kind, _, token = value.partition(" ")
        if kind.lower() == "bearer":
            return token.strip()
    return None
