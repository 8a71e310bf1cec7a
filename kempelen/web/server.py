"""The server of pages: all routes behind the guard, and uvicorn that carries them."""

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
MAX_FORM_BYTES = 4 << 10  # bytes of what is sent to sign in


class PageServer:
    """Serves the pages of a site at one address."""

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
        """Listen, and return the address with the port that it got. Raises OSError."""
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        listening = socket.create_server((address.host, address.port), family=family, backlog=1024)
        self._server = _UvicornServer(
            self.site.limits.authorising,
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
                timeout_graceful_shutdown=math.ceil(self.site.limits.grace),
            ),
        )
        self._task = asyncio.create_task(self._server.serve([listening]))
        while not self._server.started:
            if self._task.done():
                self._task.result()
                raise OSError("the server could not begin")
            await asyncio.sleep(0.01)
        return address.with_port(listening.getsockname()[1])

    async def close(self) -> None:
        """End all in order."""
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
                request, page.name, [(each.name, each.paths[0]) for each in self.pages]
            )

        return answer

    async def _http_error(self, request: Request, error: HTTPException) -> Response:
        return error_response(request, error.status_code, error.detail, error.headers)

    async def _rejected(self, request: Request, error: RejectedError) -> Response:
        return rejection_response(self.site, request, error)

    async def _internal_error(self, request: Request, error: Exception) -> Response:
        """Take note of a fault of ours; the visitor is told no more than that."""
        self.site.log.write("failed", path=request.url.path, error=describe(error))
        return error_response(request, 500, "the server failed; its log says how")

    async def _health(self, request: Request) -> Response:
        if self.site.shutting_down:
            return PlainTextResponse("ending\n", 503)
        return PlainTextResponse("ok\n")

    async def _metrics(self, request: Request) -> Response:
        if self.site.tokens is not None and not self.site.owner(request.cookies):
            kind, _, token = request.headers.get("authorization", "").partition(" ")
            try:
                self._authenticate(request, token.strip() if kind.lower() == "bearer" else "")
            except RejectedError as error:
                raise HTTPException(401, str(error)) from None
        return PlainTextResponse(self.site.metrics_text(), media_type=CONTENT_TYPE)

    async def _sign_in(self, request: Request) -> Response:
        """Take a token, in the body alone, and give the cookie that stands for it."""
        body = await request.body()
        token = None
        if self.site.tokens is not None and len(body) <= MAX_FORM_BYTES:
            with contextlib.suppress(ValueError, AttributeError, RecursionError):
                token = json.loads(body).get("token")
        if not isinstance(token, str):
            raise HTTPException(400, "a token is expected")
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
        """Return whose token it is. Raises RejectedError."""
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
    """Uvicorn without signals of its own: the command ends it.

    handshake: seconds for that of TLS, which uvicorn would let take a minute.
    """

    def __init__(self, handshake_timeout: float, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._handshake_timeout = handshake_timeout

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen at sockets that are given."""
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
        """Return what carries one connection."""
        make: Any = self.config.http_protocol_class
        carrier: asyncio.Protocol = make(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return carrier

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals as they are."""
        yield
