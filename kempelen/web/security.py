"""The guard before all pages: who may ask, how much, from which page, and what answers may do.

It stands before the whole application, so that what fails there is answered as all else.

Sources: W3C 'Content Security Policy Level 3'; OWASP 'Cross-Site Request Forgery Prevention'.
"""

from __future__ import annotations

import math
import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kempelen.web.responses import error_response
from kempelen.web.site_context import SiteContext
from protocols.server.addresses import is_ip_or_localhost
from protocols.server.admission import RejectedError
from protocols.urls import split_url_leniently

MAX_BODY_BYTES = 4 << 20  # bytes of an upload
# While bodies of so many bytes are in memory, none that is larger than this is read.
MAX_BUFFERED_BYTES = 64 << 20
LARGE_BODY_BYTES = 64 << 10
TOO_LARGE = f"at most {MAX_BODY_BYTES} bytes are read"
SAFE_METHODS = ("GET", "HEAD")
# All is from our own address, and scripts and styles are files; a picture may be in a style sheet.
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "form-action 'self'",
        "frame-src 'self'",
        "frame-ancestors 'self'",
        "base-uri 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_CONTENT_LENGTH = re.compile("[0-9]{1,9}")
# Where the pages' own files are.
STATIC_PATH = "/static"
_HTTP_STATUS = {"origin": 403, "host": 421, "size": 413, "requests": 429, "busy": 503}


class SecurityMiddleware:
    """Passes requests and WebSockets on that may come, and puts the headers on every answer."""

    def __init__(self, app: ASGIApp, site: SiteContext) -> None:
        self._app = app
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or one WebSocket."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    given.setdefault(name, value)
            await send(message)

        try:
            # A file costs less than a refusal, and a class asks for many from one address.
            if not scope["path"].startswith(f"{STATIC_PATH}/"):
                self._site.charge_request(connection)
            self._check(scope, connection.headers)
        except RejectedError as error:
            await rejection_response(self._site, connection, error)(
                scope, receive, send_with_headers
            )
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send_with_headers)
            return
        limited_receive = _LimitedReceive(receive, self._site, connection)
        try:
            await self._app(scope, limited_receive, send_with_headers)
        finally:
            limited_receive.release()

    def _check(self, scope: Scope, headers: Headers) -> None:
        """Raise RejectedError for what a page of strangers could have a browser send, and too much.

        Where no tokens are asked for a host with a name is refused: a stranger's name may lead
        here, and his pages would be of our own origin.
        """
        host = headers.get("host", "").lower()
        if self._site.tokens is None and not is_ip_or_localhost(
            split_url_leniently(f"//{host}").hostname
        ):
            raise RejectedError(
                "host", "use the address of this server, not a name that leads here"
            )
        if scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS:
            for origin in headers.getlist("origin"):
                own = split_url_leniently(origin).netloc.lower() == host
                if not own and origin.lower() not in self._site.origins:
                    raise RejectedError("origin", "pages of your origin may not use this server")
        length = headers.get("content-length", "0")
        if not _CONTENT_LENGTH.fullmatch(length) or int(length) > MAX_BODY_BYTES:
            raise RejectedError("size", TOO_LARGE)


def rejection_response(
    site: SiteContext, connection: HTTPConnection, error: RejectedError
) -> Response:
    """Take note of who is refused, and return what he is told."""
    site.log_rejection(connection, error)
    headers = {"Retry-After": str(math.ceil(error.retry_after))} if error.retry_after else None
    return error_response(connection, _HTTP_STATUS[error.code], str(error), headers)


class _LimitedReceive:
    """Reads a body of which nobody has said how long it is; RejectedError for one too long.

    So too for a large one while too many of these are read: they stay in memory until then.
    """

    def __init__(self, receive: Receive, site: SiteContext, connection: HTTPConnection) -> None:
        self._receive = receive
        self._site = site
        self._connection = connection
        self._read = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        size = len(message.get("body", b""))
        self._read += size
        self._site.buffered_bytes += size
        if self._read > MAX_BODY_BYTES:
            raise RejectedError("size", TOO_LARGE)
        if self._read > LARGE_BODY_BYTES and self._site.buffered_bytes > MAX_BUFFERED_BYTES:
            raise RejectedError("busy", "too much is being read; try again in a minute", 60.0)
        return message

    def release(self) -> None:
        """Take note that the body is needed no longer, and count what it was."""
        self._site.buffered_bytes -= self._read
        self._site.charge_body(self._connection, self._read)
