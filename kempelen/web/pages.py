"""The base class of the pages.

Each page NAME has a module NAME.page, and the files static/NAME.js, static/NAME.css and
static/words/NAME.json.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, TypeVar

from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from kempelen.web.channel import Channel, serve_channel
from kempelen.web.site_context import SiteContext
from protocols.tasks import cancel_all

Result = TypeVar("Result")
NO_LIMIT = nullcontext()


class ShortNumberConvertor(IntegerConvertor):
    """A path convertor for numbers of at most 9 digits, used as {name:number}."""

    regex = "[0-9]{1,9}"


register_url_convertor("number", ShortNumberConvertor())


async def require_connected(request: Request) -> None:
    """Raise HTTPException if the visitor has disconnected while the request was waiting."""
    await request.body()  # is_disconnected would consume it
    if await request.is_disconnected():
        raise HTTPException(408)


async def run_while_connected(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of a coroutine. If the visitor disconnects, cancel it.

    Raise HTTPException if the visitor is gone, or ClientDisconnect if they left before the end of
    the request.
    """

    async def receive_disconnect() -> None:
        await request.body()  # the next message says that the visitor has disconnected
        await request.receive()

    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(receive_disconnect())
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            gone.result()
            raise HTTPException(408)
        return task.result()
    finally:
        await cancel_all({task, gone})


class Page:
    """A page with its routes and background work.

    The HTML is served at the Starlette `paths`. The navigation links to the first path.
    """

    name: str
    paths: Sequence[str]

    def __init__(self, site: SiteContext) -> None:
        self.site = site

    def routes(self) -> Sequence[BaseRoute]:
        """Return the routes for data, uploads and channels, but not those of the page itself."""
        raise NotImplementedError

    async def start(self) -> None:
        """Start background work."""

    async def stop(self) -> None:
        """Stop background work and save unsaved state."""

    def route(
        self, path: str, answer: Callable[[Request], Awaitable[Response]], method: str = "GET"
    ) -> Route:
        """Return a route for visitors who are logged in."""

        async def endpoint(request: Request) -> Response:
            if not self.site.owner(request.cookies):
                raise HTTPException(401, "sign in with your token")
            return await answer(request)

        return Route(path, endpoint, methods=[method])

    def channel_route(
        self, path: str, serve: Callable[[Channel], Awaitable[None]]
    ) -> WebSocketRoute:
        return WebSocketRoute(path, lambda socket: serve_channel(socket, self.site, serve))

    async def run_in_thread(
        self,
        request: Request,
        function: Callable[..., Result],
        *arguments: Any,
        limiter: AbstractAsyncContextManager[Any] = NO_LIMIT,
    ) -> Result:
        """Run a slow function in a thread, one per visitor at a time.

        The `limiter` is shared by all visitors. Raise HTTPException if the visitor is gone.
        """
        async with self.site.visitor_locks.lock(self.site.client_key(request)), limiter:
            await require_connected(request)
            return await asyncio.to_thread(function, *arguments)
