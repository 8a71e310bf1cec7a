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

from protocols.server.addresses import names_machine
from protocols.server.door import RefusedError
from protocols.urls import split_any
from web.answers import refusal
from web.site import Site

MOST_BODY = 4 << 20  # bytes of an upload
# While bodies of so many bytes are in memory, none that is larger than this is read.
MOST_BODIES = 64 << 20
LARGE_BODY = 64 << 10
TOO_LARGE = f"at most {MOST_BODY} bytes are read"
SAFE = ("GET", "HEAD")
# All is from our own address, and scripts and styles are files; a picture may be in a style sheet.
POLICY = "; ".join(
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
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_LENGTH = re.compile("[0-9]{1,9}")
# Where the pages' own files are.
FILES = "/static"
_STATUS = {"origin": 403, "host": 421, "size": 413, "requests": 429, "busy": 503}


class Guard:
    """Passes requests and WebSockets on that may come, and puts the headers on every answer."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self._app = app
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or one WebSocket."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)

        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    given.setdefault(name, value)
            await send(message)

        try:
            # A file costs less than a refusal, and a class asks for many from one address.
            if not scope["path"].startswith(f"{FILES}/"):
                self._site.count_request(connection)
            self._check(scope, connection.headers)
        except RefusedError as error:
            await refused(self._site, connection, error)(scope, receive, headed)
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, headed)
            return
        limited = _Limited(receive, self._site, connection)
        try:
            await self._app(scope, limited, headed)
        finally:
            limited.forget()

    def _check(self, scope: Scope, headers: Headers) -> None:
        """Raise RefusedError for what a page of strangers could have a browser send, and too much.

        Where no tokens are asked for a host with a name is refused: a stranger's name may lead
        here, and his pages would be of our own origin.
        """
        host = headers.get("host", "").lower()
        if self._site.tokens is None and not names_machine(split_any(f"//{host}").hostname):
            raise RefusedError("host", "use the address of this server, not a name that leads here")
        if scope["type"] == "websocket" or scope["method"] not in SAFE:
            for origin in headers.getlist("origin"):
                own = split_any(origin).netloc.lower() == host
                if not own and origin.lower() not in self._site.origins:
                    raise RefusedError("origin", "pages of your origin may not use this server")
        length = headers.get("content-length", "0")
        if not _LENGTH.fullmatch(length) or int(length) > MOST_BODY:
            raise RefusedError("size", TOO_LARGE)


def refused(site: Site, connection: HTTPConnection, error: RefusedError) -> Response:
    """Take note of who is refused, and return what he is told."""
    site.note_refusal(connection, error)
    headers = {"Retry-After": str(math.ceil(error.seconds))} if error.seconds else None
    return refusal(connection, _STATUS[error.kind], str(error), headers)


class _Limited:
    """Reads a body of which nobody has said how long it is; RefusedError for one too long.

    So too for a large one while too many of these are read: they stay in memory until then.
    """

    def __init__(self, receive: Receive, site: Site, connection: HTTPConnection) -> None:
        self._receive = receive
        self._site = site
        self._connection = connection
        self._read = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        size = len(message.get("body", b""))
        self._read += size
        self._site.uploading += size
        if self._read > MOST_BODY:
            raise RefusedError("size", TOO_LARGE)
        if self._read > LARGE_BODY and self._site.uploading > MOST_BODIES:
            raise RefusedError("busy", "too much is being read; try again in a minute", 60.0)
        return message

    def forget(self) -> None:
        """Take note that the body is needed no longer, and count what it was."""
        self._site.uploading -= self._read
        self._site.count_body(self._connection, self._read)
