"""Answers over HTTP: objects of JSON, and refusals in the visitor's language."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, Response

from kempelen.web.layout import request_language
from kempelen.web.translations import translate


class AsciiJsonResponse(Response):
    """An object of JSON in ASCII: what a file or a stranger has named may be half a letter."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Write the object."""
        return json.dumps(content, separators=(",", ":")).encode("ascii")


def error_response(
    connection: HTTPConnection,
    status: int,
    reason: str,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return an answer that says why not: as text to whoever reads it, in JSON to a script."""
    text = translate(reason, request_language(connection))
    if "text/html" in connection.headers.get("accept", ""):
        return PlainTextResponse(f"{text}\n", status, headers)
    return AsciiJsonResponse({"error": text}, status, headers)
