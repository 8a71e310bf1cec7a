"""The list of pages.

Each page is a package with a module `page`, whose function `make` returns the page. The page NAME
has its script in static/NAME.js, its style in static/NAME.css, and its texts in
static/words/NAME.LANGUAGE.json. The navigation shows the text "title" of each page.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.routing import BaseRoute

if TYPE_CHECKING:
    from kempelen.web.site_context import SiteContext

# In the order of the navigation. The first page is shown at /.
PAGES = ("play", "analyse", "watch", "learn")


class ShortNumberConvertor(IntegerConvertor):
    """A Starlette path convertor for numbers of at most 9 digits, used as {name:number}."""

    regex = "[0-9]{1,9}"


register_url_convertor("number", ShortNumberConvertor())


class Page(Protocol):
    """One page and its data.

    The name of the page's package, script and texts is `name`. The page is shown at the Starlette
    paths `paths`, and the navigation links to the first of these paths.
    """

    name: str
    paths: Sequence[str]

    def routes(self) -> Sequence[BaseRoute]:
        """Return the routes for data, uploads and channels, without the routes for `paths`."""

    async def start(self) -> None:
        """Start background work."""

    async def stop(self) -> None:
        """Stop background work and save unsaved state."""


def make_pages(site: SiteContext) -> list[Page]:
    """Return all pages, in the order of the navigation."""
    return [import_module(f"kempelen.web.{name}.page").make(site) for name in PAGES]
