"""JSON objects in HTTP requests and responses, and errors in the visitor's language."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response

from agent.io import strict_json
from kempelen.console.translation import translate
from kempelen.web.layout import request_language


class AsciiJsonResponse(Response):
    """A JSON response in ASCII, because file names may contain unpaired surrogates."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json.dumps(content, separators=(",", ":")).encode("ascii")


async def json_object(request: Request) -> dict[str, Any] | None:
    """Return the JSON object in the body of a request, or None if the body is invalid."""
    return strict_json.loads_object(await request.body())


def error_response(
    connection: HTTPConnection,
    status: int,
    reason: str,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return an error response as plain text for browsers or as JSON for scripts."""
    text = translate(reason, request_language(connection))
    if "text/html" in connection.headers.get("accept", ""):
        return PlainTextResponse(f"{text}\n", status, headers)
    return AsciiJsonResponse({"error": text}, status, headers)
