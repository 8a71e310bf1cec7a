"""Test that pages are self-contained, and that data cannot inject markup."""

import json
from html.parser import HTMLParser
from math import inf
from pathlib import Path

import pytest

from kempelen.lab import html_page

HOSTILE = "</script><script>alert(1)</script><!-- &lt; \u2028 ñ ∞"


class Elements(HTMLParser):
    """Collects the text of each style and script, as a browser splits the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None], str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self.found:
            tag, attributes, text = self.found[-1]
            self.found[-1] = tag, attributes, text + data


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.css").write_text("p { color: red }")
    (tmp_path / "a.js").write_text('"use strict"; const n = 1 < 2 && "ñ";', encoding="utf-8")
    monkeypatch.setattr(html_page, "PAGES", tmp_path)
    return tmp_path


def test_embedded_data_cannot_break_out_of_the_page(folder: Path) -> None:
    data = {"text": HOSTILE, "list": [1, None, True]}
    text = html_page.build_page(f"<{HOSTILE}>", styles=["a.css"], scripts=["a.js"], data=data)
    found = Elements(text).found
    scripts = [(attributes, body) for tag, attributes, body in found if tag == "script"]
    assert [attributes.get("id") for attributes, _ in scripts] == ["data", None]
    assert json.loads(scripts[0][1]) == data
    assert scripts[1][1].strip() == (folder / "a.js").read_text(encoding="utf-8")
    (title,) = [body for tag, _, body in found if tag == "title"]
    assert title.strip() == f"<{HOSTILE}>"


def test_page_loads_nothing_external_and_has_a_strict_csp(folder: Path) -> None:
    text = html_page.build_page("t", styles=["a.css"], scripts=["a.js"], data={}, language="es")
    found = Elements(text).found
    for tag, attributes, _ in found:
        assert not {"src", "onclick", "onload", "style"} & attributes.keys()
        assert tag == "link" or "href" not in attributes
    assert '<html lang="es">' in text
    (policy,) = [
        each["content"]
        for _, each, _ in found
        if each.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert policy.count("'sha256-") == 2


@pytest.mark.parametrize("unsafe", ["</script>", "<!--", "</STYLE >"])
def test_script_with_unsafe_html_is_rejected(folder: Path, unsafe: str) -> None:
    (folder / "b.js").write_text(f'"{unsafe}"')
    with pytest.raises(ValueError, match=r"b\.js: contains"):
        html_page.build_page("t", styles=[], scripts=["b.js"], data={})


def test_infinite_number_in_the_data_is_rejected(folder: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        html_page.build_page("t", styles=[], scripts=[], data={"alpha": -inf})
