"""Security checks for all requests, and security headers for all responses.

Sources: W3C 'Content Security Policy Level 3'; OWASP 'Cross-Site Request Forgery Prevention'.
"""

from __future__ import annotations

import re
from contextlib import suppress

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.io import message
from kempelen.web.responses import error_response
from kempelen.web.site_context import SiteContext
from protocols.server.admission import RejectedError

MAX_BODY_BYTES = 4 << 20
# Maximum total size of the request bodies in memory. Above it, large bodies are rejected.
MAX_BUFFERED_BYTES = 64 << 20
LARGE_BODY_BYTES = 64 << 10
BODY_BYTES_PER_REQUEST = 64 << 10  # a body of this size counts as one additional request
TOO_LARGE = message.Message("request too large (at most {} bytes)", MAX_BODY_BYTES)
SAFE_METHODS = ("GET", "HEAD")
# Content Security Policy: only files of this server may be loaded. Style sheets may contain images.
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
    "Cache-Control": "no-cache",  # after an upgrade, no page may mix old and new scripts
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_CONTENT_LENGTH = re.compile("[0-9]{1,9}")
# The path prefix of static files.
STATIC_PATH = "/static"


class SecurityMiddleware:
    """ASGI middleware that checks requests and WebSockets, and adds security headers.

    It wraps the whole application, so that error responses also get the headers.
    """

    def __init__(self, app: ASGIApp, site: SiteContext) -> None:
        self._app = app
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = HTTPConnection(scope)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                response_headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    response_headers.setdefault(name, value)
            await send(message)

        try:
            # Static files are exempt from the rate limit: serving them is as cheap as a rejection,
            # and many users may share an address.
            if not scope["path"].startswith(f"{STATIC_PATH}/"):
                self._site.admission.charge_request(self._site.client_key(connection))
            self._check(scope, connection.headers)
        except RejectedError as error:
            await rejection_response(self._site, connection, error)(
                scope, receive, send_with_headers
            )
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send_with_headers)
            return
        limited_receive = _BodySizeLimiter(receive, self._site, connection)
        try:
            await self._app(scope, limited_receive, send_with_headers)
        finally:
            limited_receive.release()

    def _check(self, scope: Scope, headers: Headers) -> None:
        """Raise RejectedError for cross-site requests and for requests that are too large."""
        admission, host = self._site.admission, headers.get("host", "")
        if not admission.is_trusted_host(host):
            raise RejectedError(
                "host", "host name not allowed; use the server's IP address or localhost"
            )
        if scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS:
            admission.check_origin(headers.getlist("origin"), [host])
        length = headers.get("content-length", "0")
        if not _CONTENT_LENGTH.fullmatch(length) or int(length) > MAX_BODY_BYTES:
            raise RejectedError("size", TOO_LARGE)


def rejection_response(
    site: SiteContext, connection: HTTPConnection, error: RejectedError
) -> Response:
    """Log a rejection and return its error response."""
    site.log_rejection(connection, error)
    return error_response(connection, error.http_status, str(error), error.http_headers)


class _BodySizeLimiter:
    """Wraps ASGI's `receive` and raises RejectedError if the request body is too long.

    Large bodies are also rejected while the bodies in memory exceed MAX_BUFFERED_BYTES.
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
            raise RejectedError("busy", "too many uploads; try again in a minute", 60.0)
        return message

    def release(self) -> None:
        """Stop counting the body's bytes as memory, and charge them to the visitor's rate limit."""
        self._site.buffered_bytes -= self._read
        if self._read:
            with suppress(RejectedError):  # this body has been read; the next request is rejected
                self._site.admission.charge_request(
                    self._site.client_key(self._connection), self._read / BODY_BYTES_PER_REQUEST
                )
