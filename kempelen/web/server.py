"""The web server, which combines the routes of all pages with the security middleware."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from agent.io.user_code import describe
from kempelen.web.http_connections import limited_http_protocol
from kempelen.web.layout import STATIC, render_page
from kempelen.web.login_sessions import COOKIE_NAME, LIFETIME_S
from kempelen.web.media_types import declare_media_types
from kempelen.web.pages import Page, make_pages
from kempelen.web.responses import AsciiJsonResponse, error_response
from kempelen.web.security import STATIC_PATH, SecurityMiddleware, rejection_response
from kempelen.web.site_context import SiteContext
from protocols.server.addresses import Address
from protocols.server.admission import RejectedError
from protocols.server.metrics import CONTENT_TYPE
from protocols.server.network_session import CLOSE_TIMEOUT_S
from protocols.server.transport import PEER_TIMEOUT_S

SIGN_IN_PAGE = "signin"
MAX_FORM_BYTES = 4 << 10  # maximum body size of a sign-in request


class PageServer:
    """Serves the pages of a site on one address."""

    def __init__(self, site: SiteContext) -> None:
        declare_media_types()
        self.site = site
        self.pages = make_pages(site)
        handlers: dict[Any, Any] = {
            HTTPException: self._http_error,
            RejectedError: self._rejected,
            Exception: self._internal_error,
        }
        app_without_security = Starlette(
            routes=[*self._routes()], lifespan=self._lifespan, exception_handlers=handlers
        )
        self.app = SecurityMiddleware(app_without_security, site)
        self._server: _UvicornServer | None = None
        self._task: asyncio.Task[None] | None = None

    async def open(self, address: Address, certificate: str | None, key: str | None) -> Address:
        """Listen on an address. Return the address with the actual port.

        `certificate` and `key` are the paths of the TLS files. Raise OSError if listening fails.
        """
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        listening = socket.create_server((address.host, address.port), family=family, backlog=1024)
        self._server = _UvicornServer(
            self.site.limits.auth_timeout,
            uvicorn.Config(
                self.app,
                ssl_certfile=certificate,
                ssl_keyfile=key,
                http=limited_http_protocol(self.site.limits),
                ws="websockets-sansio",
                ws_max_size=self.site.limits.line_bytes,
                ws_per_message_deflate=False,
                ws_ping_interval=PEER_TIMEOUT_S / 4,
                ws_ping_timeout=PEER_TIMEOUT_S / 2,
                log_config=None,
                log_level="critical",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                lifespan="on",
                timeout_graceful_shutdown=math.ceil(self.site.limits.shutdown_timeout),
            ),
        )
        self._task = asyncio.create_task(self._server.serve([listening]))
        while not self._server.started:
            if self._task.done():
                self._task.result()
                raise OSError("the server could not start")
            await asyncio.sleep(0.01)
        return address.with_port(listening.getsockname()[1])

    async def close(self) -> None:
        """Close all connections and stop the pages."""
        self.site.shutting_down = True
        if self._server is not None and self._task is not None:
            self._server.should_exit = True
            await self._task

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        for page in self.pages:
            await page.start()
        yield
        for page in self.pages:
            await page.stop()

    def _routes(self) -> Iterator[BaseRoute]:
        yield Route("/health", self._health)
        yield Route("/metrics", self._metrics)
        yield Route("/signin", self._sign_in, methods=["POST"])
        yield Route("/signout", self._sign_out, methods=["POST"])
        yield Route("/", self._page_endpoint(self.pages[0]))
        for page in self.pages:
            for path in page.paths:
                yield Route(path, self._page_endpoint(page))
            yield from page.routes()
        yield Mount(STATIC_PATH, StaticFiles(directory=STATIC))

    def _page_endpoint(self, page: Page) -> Any:
        async def answer(request: Request) -> Response:
            if not self.site.owner(request.cookies):
                return render_page(request, SIGN_IN_PAGE, (), 401)
            return render_page(
                request, page.name, [(other.name, other.paths[0]) for other in self.pages]
            )

        return answer

    async def _http_error(self, request: Request, error: HTTPException) -> Response:
        return error_response(request, error.status_code, error.detail, error.headers)

    async def _rejected(self, request: Request, error: RejectedError) -> Response:
        return rejection_response(self.site, request, error)

    async def _internal_error(self, request: Request, error: Exception) -> Response:
        """Log an internal error. The response contains no details."""
        self.site.log.write("failed", path=request.url.path, error=describe(error))
        return error_response(request, 500, "internal server error; see the server log")

    async def _health(self, request: Request) -> Response:
        if self.site.shutting_down:
            return PlainTextResponse("ending\n", 503)
        return PlainTextResponse("ok\n")

    async def _metrics(self, request: Request) -> Response:
        if self.site.tokens is not None and not self.site.owner(request.cookies):
            scheme, _, token = request.headers.get("authorization", "").partition(" ")
            try:
                self._authenticate(request, token.strip() if scheme.lower() == "bearer" else "")
            except RejectedError as error:
                raise HTTPException(401, str(error)) from None
        return PlainTextResponse(self.site.metrics_text(), media_type=CONTENT_TYPE)

    async def _sign_in(self, request: Request) -> Response:
        body = await request.body()
        token = None
        if self.site.tokens is not None and len(body) <= MAX_FORM_BYTES:
            with contextlib.suppress(ValueError, AttributeError, RecursionError):
                token = json.loads(body).get("token")
        if not isinstance(token, str):
            raise HTTPException(400, "missing token")
        try:
            name = self._authenticate(request, token.strip())
        except RejectedError as error:
            raise HTTPException(401, str(error)) from None
        response = AsciiJsonResponse({"name": name})
        response.set_cookie(
            COOKIE_NAME,
            self.site.login_sessions.create(name),
            max_age=LIFETIME_S,
            httponly=True,
            samesite="strict",
            secure=self.site.secure,
        )
        return response

    async def _sign_out(self, request: Request) -> Response:
        self.site.login_sessions.delete(request.cookies)
        response = AsciiJsonResponse({})
        response.delete_cookie(COOKIE_NAME)
        return response

    def _authenticate(self, request: Request, token: str) -> str:
        slot = self.site.admission.open_slot(request.client.host if request.client else "?")
        try:
            slot.check_limits()
            slot.authenticate(token)
            return slot.name or ""
        except RejectedError as error:
            self.site.log_rejection(request, error)
            raise
        finally:
            slot.close()


class _UvicornServer(uvicorn.Server):
    """A uvicorn server without signal handlers and with its own TLS handshake timeout.

    Uvicorn's default timeout is one minute.
    """

    def __init__(self, handshake_timeout: float, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._handshake_timeout = handshake_timeout

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=[])
        tls, loop = self.config.ssl, asyncio.get_running_loop()
        for listening in sockets or ():
            server = await loop.create_server(
                self._make_protocol,
                sock=listening,
                ssl=tls,
                backlog=self.config.backlog,
                ssl_handshake_timeout=None if tls is None else self._handshake_timeout,
                ssl_shutdown_timeout=None if tls is None else CLOSE_TIMEOUT_S,
            )
            self.servers.append(server)

    def _make_protocol(self) -> asyncio.Protocol:
        protocol_class: Any = self.config.http_protocol_class
        protocol: asyncio.Protocol = protocol_class(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return protocol

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signal handlers unchanged, unlike uvicorn's own method."""
        yield
