"""The browser of the tests sees what a page says, and what it complains of."""

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.thorough


def test_browser_reads_a_page_and_reports_script_errors(browser: Any, tmp_path: Path) -> None:
    quiet, loud = tmp_path / "quiet.html", tmp_path / "loud.html"
    quiet.write_text("<title>t</title><link rel=icon href=data:,><p id=a>one</p>")
    loud.write_text("<link rel=icon href=data:,><script>missing()</script>")
    browser.open(quiet)
    assert browser.text("#a") == "one"
    assert browser.run("return document.title") == "t"
    assert browser.complaints() == []
    browser.open(loud)
    assert any("missing is not defined" in each for each in browser.complaints())
