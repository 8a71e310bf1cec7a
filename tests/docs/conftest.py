"""Fixtures for the tests of the documentation."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import agent.search.algorithms
from tests.pages import Page


@pytest.fixture
def folder_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Page], Path]:
    """Return a function that makes a working folder with the files of a page.

    Files for agent/search/algorithms can be imported from there.
    """

    def make(page: Page) -> Path:
        for name, text in page.files().items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, encoding="utf-8")
            monkeypatch.delitem(sys.modules, Path(name).stem, raising=False)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(
            agent.search.algorithms,
            "__path__",
            [*agent.search.algorithms.__path__, str(tmp_path / "agent/search/algorithms")],
        )
        return tmp_path

    return make
