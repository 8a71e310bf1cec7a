"""Pages that need nothing beside themselves: styles, scripts and data joined into one file of HTML.

The styles and scripts are files of `pages`, beside this module: a page exported here has them
inside, a server may give them out as they are. Scripts are classic ones; one may use what those
before it have defined. They read their data, which is JSON, from the element `data`, and fill the
element `page`. Nothing is loaded, evaluated or written into attributes: the policy that the page
carries names its own styles and scripts by their hashes, and the browser refuses all others.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

SUFFIX = ".html"
PAGES = Path(__file__).parent / "pages"

NOSCRIPT_TEXT = {
    "en": "This page is drawn by scripts, which the browser does not run.",
    "es": "Esta página la dibujan scripts, que el navegador no ejecuta.",
}
# A script or style that said one of these would end, or hide, before its end.
_UNSAFE = ("</script", "</style", "<!--", "<script")


def build_page(
    title: str,
    *,
    styles: Sequence[str],
    scripts: Sequence[str],
    data: Any,
    language: str = "en",
) -> str:
    """Return a page with all that it needs.

    styles, scripts: names of files of PAGES, in their order. data: what JSON can tell; ValueError
    for what it cannot, such as an infinite number.
    """
    css, code = [_read_asset(name) for name in styles], [_read_asset(name) for name in scripts]
    policy = "; ".join(
        (
            "default-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            "img-src data: blob:",
            f"style-src {_csp_hashes(css)}",
            f"script-src {_csp_hashes(code)}",
        )
    )
    lines = [
        "<!DOCTYPE html>",
        f'<html lang="{escape(language)}">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<link rel="icon" href="data:,">',
        f"<title>{escape(title)}</title>",
        *(f"<style>{text}</style>" for text in css),
        "</head>",
        "<body>",
        f"<noscript>{NOSCRIPT_TEXT[language]}</noscript>",
        '<main id="page"></main>',
        f'<script type="application/json" id="data">{script_json(data)}</script>',
        *(f"<script>{text}</script>" for text in code),
        "</body>",
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def check_path(path: Path) -> None:
    """Raise ValueError if no page can be written there."""
    if path.suffix.lower() != SUFFIX:
        raise ValueError(f"{path} is no page: its name must end in {SUFFIX}")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.parent}")


def script_json(data: Any) -> str:
    """Return data as JSON that may stand inside a script element, whatever its texts say."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # Outside texts JSON has none of these signs.
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _read_asset(name: str) -> str:
    """Return the text of a file of PAGES."""
    text = (PAGES / name).read_text(encoding="utf-8")
    for unsafe in _UNSAFE:
        if unsafe in text.lower():
            raise ValueError(f"{name} says {unsafe}, which cannot stand inside a page")
    return text


def _csp_hashes(texts: list[str]) -> str:
    """Return the sources of a policy that allow these texts and nothing else."""
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in texts]
    return " ".join(f"'sha256-{each}'" for each in hashes) or "'none'"
