"""Answers that refuse something, in the visitor's language."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, PlainTextResponse, Response

from web.messages import said
from web.shell import language_of


def refusal(
    connection: HTTPConnection,
    status: int,
    reason: str,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return an answer that says why not: as text to whoever reads it, in JSON to a script."""
    text = said(reason, language_of(connection))
    if "text/html" in connection.headers.get("accept", ""):
        return PlainTextResponse(f"{text}\n", status, headers)
    return JSONResponse({"error": text}, status, headers)
