"""A reader's folder."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import agent.search
from tests.pages import Page


@pytest.fixture
def folder_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Page], Path]:
    """Make a folder, and the working folder, that has the files which a page has its reader save.

    What goes into agent/search is found as if it lay there.
    """

    def make(page: Page) -> Path:
        for name, text in page.files().items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, encoding="utf-8")
            monkeypatch.delitem(sys.modules, Path(name).stem, raising=False)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(
            agent.search, "__path__", [*agent.search.__path__, str(tmp_path / "agent/search")]
        )
        return tmp_path

    return make
