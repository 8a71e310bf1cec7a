"""The server and the console checks that most test files of the pages need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.kempelen.web.support import Served, serving

if TYPE_CHECKING:
    from tests.browser import Browser


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server for the tests of a file. Some files have a fixture of their own instead."""
    with serving(tmp_path_factory.mktemp("web") / "web.sqlite") as server:
        yield server


@pytest.fixture
def no_complaints(browser: Browser, served: Served) -> Iterator[None]:
    """Check for console errors after a test, and leave the page before its server stops."""
    yield
    browser.driver.delete_all_cookies()
    assert browser.complaints() == []
    browser.open("about:blank")
