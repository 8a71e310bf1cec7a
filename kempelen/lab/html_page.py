"""Build self-contained HTML pages with inline styles, scripts and JSON data.

Styles and scripts are files in the folder `pages`. The content security policy identifies them by
their SHA-256 hashes and allows no others. Scripts read their data from the element with the ID
`data` and render into the element `page`.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from agent.io.message import Message
from kempelen.console.translation import translate

SUFFIX = ".html"
PAGES = Path(__file__).parent / "pages"

NOSCRIPT_TEXT = "This page is drawn by scripts, which the browser does not run."
# Text that would close or disable a script or style element.
_UNSAFE = ("</script", "</style", "<!--", "<script")


def build_page(
    title: str,
    *,
    styles: Sequence[str],
    scripts: Sequence[str],
    data: Any,
    language: str = "en",
) -> str:
    """Return a self-contained HTML page.

    `styles` and `scripts` are file names in `PAGES`, in loading order. Raise ValueError if `data`
    contains NaN or infinity.
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
        f"<noscript>{translate(NOSCRIPT_TEXT, language)}</noscript>",
        '<main id="page"></main>',
        f'<script type="application/json" id="data">{script_json(data)}</script>',
        *(f"<script>{text}</script>" for text in code),
        "</body>",
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def check_path(path: Path) -> None:
    """Raise ValueError if the path does not end in .html or its folder does not exist."""
    if path.suffix.lower() != SUFFIX:
        raise ValueError(Message("{}: invalid page name (must end in {})", path, SUFFIX))
    if not path.absolute().parent.is_dir():
        raise ValueError(Message("{}: folder {} does not exist", path, path.parent))


def script_json(data: Any) -> str:
    """Serialize `data` to JSON that is safe inside an HTML script element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # In JSON, these characters occur only inside strings, where escapes are valid.
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _read_asset(name: str) -> str:
    text = (PAGES / name).read_text(encoding="utf-8")
    for unsafe in _UNSAFE:
        if unsafe in text.lower():
            raise ValueError(
                Message("{}: contains {}, which is not allowed in a page", name, unsafe)
            )
    return text


def _csp_hashes(texts: list[str]) -> str:
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in texts]
    return " ".join(f"'sha256-{each}'" for each in hashes) or "'none'"
