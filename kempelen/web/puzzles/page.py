from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute

from kempelen.web.pages import Page


class PuzzlesPage(Page):
    """The page for puzzles, which the browser stores. The analysis page judges the moves."""

    name = "puzzles"
    paths = ("/puzzles",)

    def routes(self) -> Sequence[BaseRoute]:
        return ()
