"""The web server, which combines the routes of all pages with the security middleware."""

from __future__ import annotations

import asyncio
import math
import socket
import ssl
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from agent.games.variants import find_variant
from agent.io.user_code import describe
from kempelen.console.translation import translate
from kempelen.web.analyse.page import AnalysePage
from kempelen.web.editor.page import EditorPage
from kempelen.web.http_connections import limited_http_protocol
from kempelen.web.layout import LANGUAGES, STATIC, WORDS, page_words, render_page, request_language
from kempelen.web.learn.page import LearnPage
from kempelen.web.login_sessions import COOKIE_NAME, LIFETIME_S
from kempelen.web.media_types import declare_media_types
from kempelen.web.pages import Page
from kempelen.web.play.page import PlayPage
from kempelen.web.puzzles.page import PuzzlesPage
from kempelen.web.responses import AsciiJsonResponse, error_response, json_object
from kempelen.web.security import STATIC_PATH, SecurityMiddleware, rejection_response
from kempelen.web.site_context import SiteContext
from kempelen.web.watch.page import WatchPage
from protocols.server.addresses import Address
from protocols.server.admission import RejectedError, bearer_token
from protocols.server.metrics import CONTENT_TYPE
from protocols.server.network_session import CLOSE_TIMEOUT_S
from protocols.server.tls_listener import TlsListener
from protocols.server.transport import PEER_TIMEOUT_S

# In the order of the navigation. The first page is shown at /.
PAGES = (PlayPage, AnalysePage, PuzzlesPage, EditorPage, WatchPage, LearnPage)
SIGN_IN_PAGE = "signin"
ERROR_PAGE = "site"
MAX_FORM_BYTES = 4 << 10  # maximum body size of a sign-in request


class PageServer:
    """Serves the pages of a site on one address."""

    def __init__(self, site: SiteContext) -> None:
        declare_media_types()
        self.site = site
        self.pages = [page(site) for page in PAGES]
        handlers: dict[Any, Any] = {
            HTTPException: self._http_error,
            RejectedError: self._rejected,
            ClientDisconnect: self._disconnected,
            Exception: self._internal_error,
        }
        app = Starlette(routes=[*self._routes()], exception_handlers=handlers)
        self._uvicorn = uvicorn.Server(
            uvicorn.Config(
                SecurityMiddleware(app, site),
                http=limited_http_protocol(site.limits),
                ws="websockets-sansio",
                ws_max_size=site.limits.line_bytes,
                ws_per_message_deflate=False,
                ws_ping_interval=PEER_TIMEOUT_S / 4,
                ws_ping_timeout=PEER_TIMEOUT_S / 2,
                log_config=None,
                log_level="critical",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                lifespan="off",
                timeout_graceful_shutdown=math.ceil(site.limits.shutdown_timeout),
            )
        )
        self._main_loop: asyncio.Task[None] | None = None

    async def open(self, address: Address, tls: ssl.SSLContext | None) -> Address:
        """Listen on an address. Return the address with the actual port.

        Raise OSError if listening fails.
        """
        limits, server, config = self.site.limits, self._uvicorn, self._uvicorn.config
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        listening = socket.create_server((address.host, address.port), family=family, backlog=1024)
        for page in self.pages:
            await page.start()
        # uvicorn's own `serve` has no option for the TLS timeouts, and handles signals.
        config.load()
        server.lifespan = config.lifespan_class(config)
        protocol: Any = config.http_protocol_class
        if tls is not None:
            listening = TlsListener(listening, protocol.handshakes)
        accepting = await asyncio.get_running_loop().create_server(
            lambda: protocol(config=config, server_state=server.server_state, app_state={}),
            sock=listening,
            ssl=tls,
            backlog=config.backlog,
            ssl_handshake_timeout=None if tls is None else limits.auth_timeout,
            ssl_shutdown_timeout=None if tls is None else CLOSE_TIMEOUT_S,
        )
        server.servers = [accepting]
        self._main_loop = asyncio.create_task(server.main_loop())
        return address.with_port(listening.getsockname()[1])

    async def close(self) -> None:
        """Close all connections and stop the pages."""
        self.site.shutting_down = True
        if self._main_loop is not None:
            self._uvicorn.should_exit = True
            await self._main_loop
            await self._uvicorn.shutdown()
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
        yield Route(f"{STATIC_PATH}/words/{{page}}.{{language}}.json", self._words)
        yield Mount(STATIC_PATH, StaticFiles(directory=STATIC))

    def _page_endpoint(self, page: Page) -> Any:
        async def answer(request: Request) -> Response:
            if not self.site.owner(request.cookies):
                return render_page(request, SIGN_IN_PAGE, (), 401)
            requested = request.query_params.get("variant", "")
            variant = find_variant(requested)
            if variant is not None and variant != requested:  # scripts know no aliases
                url = request.url.include_query_params(variant=variant)
                return RedirectResponse(f"{url.path}?{url.query}")
            return render_page(request, page.name, self._navigation(request))

        return answer

    def _navigation(self, request: Request) -> list[tuple[str, str]]:
        """Return the names and paths of the pages that the visitor may open."""
        if not self.site.owner(request.cookies):
            return []
        return [(page.name, page.paths[0]) for page in self.pages]

    async def _http_error(self, request: Request, error: HTTPException) -> Response:
        unknown = error.status_code == 404 and error.detail == HTTPStatus.NOT_FOUND.phrase
        reason = "page not found" if unknown else error.detail
        return self._error(request, error.status_code, reason, error.headers)

    def _error(
        self, request: Request, status: int, reason: str, headers: Mapping[str, str] | None = None
    ) -> Response:
        """Return an error as a page with navigation for browsers, and as JSON for scripts."""
        if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
            text = translate(reason, request_language(request))
            return render_page(
                request, ERROR_PAGE, self._navigation(request), status, text, headers
            )
        return error_response(request, status, reason, headers)

    async def _rejected(self, request: Request, error: RejectedError) -> Response:
        return rejection_response(self.site, request, error)

    async def _disconnected(self, request: Request, error: ClientDisconnect) -> Response:
        """Return a response that nobody receives: the client has left during its request."""
        return Response(status_code=400)

    async def _internal_error(self, request: Request, error: Exception) -> Response:
        """Log an internal error. The response contains no details."""
        self.site.log.write_limited("failed", path=request.url.path, error=describe(error))
        return self._error(request, 500, "internal server error; see the server log")

    async def _words(self, request: Request) -> Response:
        page, language = request.path_params["page"], request.path_params["language"]
        if language not in LANGUAGES or page not in {path.stem for path in WORDS.glob("*.json")}:
            raise HTTPException(404)
        return AsciiJsonResponse(page_words(page, language))

    async def _health(self, request: Request) -> Response:
        if self.site.shutting_down:
            return PlainTextResponse("ending\n", 503)
        return PlainTextResponse("ok\n")

    async def _metrics(self, request: Request) -> Response:
        if self.site.tokens is not None and not self.site.owner(request.cookies):
            token = bearer_token(request.headers.getlist("authorization"))
            if token is None:  # not an attempt: a page of another site can make the request, too
                raise HTTPException(401, "missing token")
            self._authenticate(request, token)
        return PlainTextResponse(self.site.metrics_text(), media_type=CONTENT_TYPE)

    async def _sign_in(self, request: Request) -> Response:
        token = None
        if self.site.tokens is not None and len(await request.body()) <= MAX_FORM_BYTES:
            token = (await json_object(request) or {}).get("token")
        if not isinstance(token, str):
            raise HTTPException(400, "missing token")
        name = self._authenticate(request, token.strip())
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
        """Return the name of a token's owner. Raise HTTPException if the token is rejected."""
        slot = self.site.admission.open_slot(request.client.host if request.client else "?")
        try:
            slot.check_limits()
            slot.authenticate(token)
            return slot.name or ""
        except RejectedError as error:
            self.site.log_rejection(request, error)
            raise HTTPException(401, str(error)) from None
        finally:
            slot.close()
