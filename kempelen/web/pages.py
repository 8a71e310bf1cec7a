"""The list of pages.

Each page NAME has a module NAME.page with a function `make`, and the files static/NAME.js,
static/NAME.css and static/words/NAME.LANGUAGE.json.
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
    """A path convertor for numbers of at most 9 digits, used as {name:number}."""

    regex = "[0-9]{1,9}"


register_url_convertor("number", ShortNumberConvertor())


class Page(Protocol):
    """A page with its routes and background work.

    The HTML is served at the Starlette `paths`. The navigation links to the first path.
    """

    name: str
    paths: Sequence[str]

    def routes(self) -> Sequence[BaseRoute]:
        """Return the routes for data, uploads and channels, but not those of the page itself."""

    async def start(self) -> None:
        """Start background work."""

    async def stop(self) -> None:
        """Stop background work and save unsaved state."""


def make_pages(site: SiteContext) -> list[Page]:
    """Return all pages, in the order of the navigation."""
    return [import_module(f"kempelen.web.{name}.page").make(site) for name in PAGES]
