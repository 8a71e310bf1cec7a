"""Which pages there are: each is a package here with a module `page`, whose `make` gives it.

A page NAME has its script in static/NAME.js, which the shell starts, its style in static/NAME.css,
and its words in static/words/NAME.LANGUAGE.json; the word "title" is shown in the navigation.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.routing import BaseRoute

if TYPE_CHECKING:
    from kempelen.web.site_context import SiteContext

# The pages in the order of the navigation; the first is shown at /.
PAGES = ("play", "analyse", "watch", "learn")


class ShortNumberConvertor(IntegerConvertor):
    """A number in a path, as {name:number}: one with more digits leads nowhere."""

    regex = "[0-9]{1,9}"


register_url_convertor("number", ShortNumberConvertor())


class Page(Protocol):
    """One page with what it serves.

    name: of its package, its script and its words. shells: the paths, as Starlette writes them, at
    which the shell with the page's script is shown; the first stands in the navigation.
    """

    name: str
    paths: Sequence[str]

    def routes(self) -> Sequence[BaseRoute]:
        """Return what else it answers: data, uploads, and channels."""

    async def start(self) -> None:
        """Begin what goes on as long as the server does."""

    async def stop(self) -> None:
        """End all that goes on, and keep what is to be kept."""


def make_pages(site: SiteContext) -> list[Page]:
    """Return all pages, made for a site."""
    return [import_module(f"kempelen.web.{name}.page").make(site) for name in PAGES]
