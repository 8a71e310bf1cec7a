"""The learning page, with exported pages of the lab and step-by-step pages made on request.

These pages contain inline scripts, so they are served in a sandbox without cookies or network.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from functools import lru_cache
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute

from agent.io.files import read_bytes
from agent.io.sanitize import sanitize_line
from kempelen.web.pages import Page, require_connected
from kempelen.web.responses import AsciiJsonResponse
from kempelen.web.site_context import SiteContext

MAX_PAGE_BYTES = 16 << 20
MAX_LISTED = 200
# Maximum number of visitors waiting for a step-by-step page. Pages are made one at a time.
MAX_WAITING = 8
SANDBOX_POLICY = (
    "sandbox allow-scripts allow-forms allow-downloads; default-src 'none'; "
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "form-action 'none'; frame-ancestors 'self'"
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\.html")
_TITLE = re.compile(r"<title>([^<]*)</title>", re.IGNORECASE)


class LearnPage(Page):
    """Lists and serves the HTML files in the operator's folder, and makes step-by-step pages."""

    name = "learn"
    paths = ("/learn", "/learn/{lesson:str}")

    def __init__(self, site: SiteContext) -> None:
        super().__init__(site)
        self._folder = site.resources.lessons
        self._page_lock = asyncio.Lock()
        self._waiting = 0

    def routes(self) -> Sequence[BaseRoute]:
        return (
            self.route("/lessons", self._list),
            self.route("/lessons/choices", self._choices),
            self.route("/lessons/steps", self._steps, "POST"),
            self.route("/lessons/{name}", self._serve_lesson),
        )

    async def _list(self, request: Request) -> Response:
        return AsciiJsonResponse(await asyncio.to_thread(self._list_lessons))

    async def _serve_lesson(self, request: Request) -> Response:
        name = request.path_params["name"]
        if self._folder is None or not _NAME.fullmatch(name):
            raise HTTPException(404, "page not found")
        try:
            data = await asyncio.to_thread(read_bytes, self._folder / name, MAX_PAGE_BYTES)
        except (OSError, ValueError):
            raise HTTPException(404, "page not found") from None
        return _sandboxed(data)

    async def _choices(self, request: Request) -> Response:
        return AsciiJsonResponse(await asyncio.to_thread(self.site.resources.choices))

    async def _steps(self, request: Request) -> Response:
        make_page = self.site.resources.steps
        if make_page is None:
            raise HTTPException(404, "page not found")
        body = (await request.body()).decode(errors="replace")
        if self._waiting >= MAX_WAITING:
            raise HTTPException(503, "server busy; try again in a minute")
        self._waiting += 1
        try:
            choice = dict(parse_qsl(body, max_num_fields=9))
            async with self._page_lock:
                await require_connected(request)
                text = await asyncio.to_thread(make_page, choice)
        except ValueError as error:
            raise HTTPException(400, str(error)) from None
        finally:
            self._waiting -= 1
        return _sandboxed(text)

    def _list_lessons(self) -> list[dict[str, str]]:
        if self._folder is None:
            return []
        names = sorted(path.name for path in self._folder.glob("*.html"))
        known = [name for name in names if _NAME.fullmatch(name)][:MAX_LISTED]
        return [{"name": name, "title": _title_of(self._folder / name)} for name in known]


def _sandboxed(content: str | bytes) -> Response:
    # A sandboxed page must not have a Cross-Origin-Opener-Policy.
    headers = {
        "Content-Security-Policy": SANDBOX_POLICY,
        "Cross-Origin-Opener-Policy": "unsafe-none",
    }
    return HTMLResponse(content, headers=headers)


def _title_of(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return path.stem
    return _title(path, status.st_mtime_ns, status.st_size)


@lru_cache(2 * MAX_LISTED)
def _title(path: Path, changed: int, size: int) -> str:
    """Return the title of a page. The result is cached until the page's file changes."""
    try:
        match = _TITLE.search(read_bytes(path, MAX_PAGE_BYTES).decode(errors="replace"))
    except (OSError, ValueError):
        match = None
    return sanitize_line(unescape(match[1])) if match else path.stem
