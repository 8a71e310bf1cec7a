"""The HTML layout shared by all pages, with navigation, language and theme."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from string import Template

from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse

from kempelen.console.translation import catalogue

STATIC = Path(__file__).parent / "static"
WORDS = STATIC / "words"
LANGUAGES = {"en": "English", "es": "Español"}
THEMES = ("auto", "light", "dark")


@cache
def page_words(page: str, language: str) -> Mapping[str, str]:
    """Return a mapping from keys to the texts of a page, translated to `language`."""
    words: dict[str, str] = json.loads((WORDS / f"{page}.json").read_text(encoding="utf-8"))
    if language == "en":
        return words
    find = catalogue(language).pgettext
    return {key: find(f"{page}: {key}", text) for key, text in words.items()}


def request_language(request: HTTPConnection) -> str:
    """Return the language from the visitor's cookie or from the browser's preferences."""
    chosen = request.cookies.get("language", "")
    if chosen in LANGUAGES:
        return chosen
    for part in request.headers.get("accept-language", "").split(","):
        code = part.partition(";")[0].strip().lower().partition("-")[0]
        if code in LANGUAGES:
            return code
    return "en"


def render_page(
    request: Request,
    page: str,
    navigation: Sequence[tuple[str, str]],
    status: int = 200,
    message: str = "",
    headers: Mapping[str, str] | None = None,
) -> HTMLResponse:
    """Return the HTML of a page. `navigation` contains the names and paths of all pages.

    Its script fills a page. The page "site" only shows the `message`.
    """
    language = request_language(request)
    theme = request.cookies.get("theme", "")
    theme = theme if theme in THEMES else THEMES[0]
    site_words, words = page_words("site", language), page_words(page, language)
    links = []
    for name, path in navigation:
        current = ' aria-current="page"' if name == page else ""
        links.append(f'<a href="{path}"{current}>{escape(page_words(name, language)["title"])}</a>')
    switches = [
        _switch("theme", site_words["theme"], {name: site_words[name] for name in THEMES}, theme),
        _switch("language", site_words["language"], LANGUAGES, language),
    ]
    style = STATIC / f"{page}.css"
    text = _template().substitute(
        language=language,
        theme=theme,
        page=page,
        title=escape(words["title"]),
        skip=escape(site_words["skip"]),
        pages=escape(site_words["pages"]),
        needs=escape(site_words["needs script"]),
        links="".join(links),
        switches="".join(switches),
        style=f'<link rel="stylesheet" href="/static/{page}.css">' if style.is_file() else "",
        content=f"<h1>{status}</h1><p>{escape(message)}</p>" if message else "",
    )
    return HTMLResponse(text, status, {"Cache-Control": "no-store", **(headers or {})})


@cache
def _template() -> Template:
    return Template((Path(__file__).parent / "shell.html").read_text(encoding="utf-8"))


def _switch(name: str, label: str, values: Mapping[str, str], chosen: str) -> str:
    options = "".join(
        f'<option value="{value}"{" selected" if value == chosen else ""}>{escape(text)}</option>'
        for value, text in values.items()
    )
    return f'<select id="{name}" aria-label="{escape(label)}">{options}</select>'
