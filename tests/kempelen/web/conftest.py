"""The server and the console checks that most test files of the pages need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kempelen.web.play.boards import PlayedGame
from kempelen.web.play.game_session import GameSession
from protocols.client.uci import SearchRequest
from tests.kempelen.web.support import Served, serving

if TYPE_CHECKING:
    from tests.browser import Browser


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server for the tests of a file. Some files have a fixture of their own instead."""
    with serving(tmp_path_factory.mktemp("web") / "web.sqlite") as server:
        yield server


@pytest.fixture
def limited_by_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit searches on the page Play by nodes: the results do not depend on the speed."""
    timed = GameSession._request

    def request(
        self: GameSession, seconds: float, board: PlayedGame | None = None
    ) -> SearchRequest:
        return replace(timed(self, seconds, board), movetime=None, nodes=round(100_000 * seconds))

    monkeypatch.setattr(GameSession, "_request", request)


@pytest.fixture
def no_complaints(browser: Browser, served: Served) -> Iterator[None]:
    """Check for console errors after a test, and leave the page before its server stops."""
    yield
    browser.driver.delete_all_cookies()
    assert browser.complaints() == []
    browser.open("about:blank")
