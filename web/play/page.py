"""The page to play on."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute

from web.site import Site


class PlayPage:
    """Shows games, and plays them."""

    name = "play"
    shells = ("/play", "/play/{game:str}")

    def __init__(self, site: Site) -> None:
        self._site = site

    def routes(self) -> Sequence[BaseRoute]:
        """Return what else is answered."""
        return ()

    async def start(self) -> None:
        """Begin nothing."""

    async def stop(self) -> None:
        """End nothing."""


def make(site: Site) -> PlayPage:
    """Return the page."""
    return PlayPage(site)
