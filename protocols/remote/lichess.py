"""Client for lichess's external engine API over HTTP.

Source: 'External engine' in lichess's API documentation. The module uses http.client, because an
upload must notice a closed connection before the next write.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from agent.games.variants import STANDARD, find_variant
from agent.io.sanitize import sanitize_line
from protocols.remote.legal_move import is_uci_move
from protocols.remote.transport import describe_error

MAX_RESPONSE_BYTES = 1 << 20
# Timeouts: for a response, and for a request that the server holds until work is available.
TIMEOUT_S = 20.0
POLL_TIMEOUT_S = 90.0
MAX_MOVES = 600
CHESS960 = "chess960"
_ID = re.compile(r"[\w-]{1,200}")
_LIMITS = ("movetime", "depth", "nodes")


class LichessError(Exception):
    """A permanent error from lichess."""


class LichessUnavailableError(Exception):
    """A temporary error from lichess. Wait `retry_after` seconds or longer before a retry."""

    def __init__(self, message: str, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class AnalysisRequest:
    """An analysis request from lichess.

    The mapping `limits` may contain movetime (in milliseconds), depth and nodes.
    """

    id: str
    session: str
    threads: int
    megabytes: int
    multipv: int
    fen: str
    moves: tuple[str, ...]
    limits: Mapping[str, int]
    infinite: bool
    variant: str = STANDARD

    @classmethod
    def from_json(cls, answer: Any) -> AnalysisRequest:
        """Parse the server's JSON. Raise ValueError if it is invalid or not supported."""
        try:
            work_id, work = answer["id"], answer["work"]
            moves = work["moves"]
            session, variant, fen = work["sessionId"], work["variant"], work["initialFen"]
        except (KeyError, TypeError) as error:
            raise ValueError(f"work: missing {error}") from None
        if not isinstance(work_id, str) or not _ID.fullmatch(work_id):
            raise ValueError("work: invalid id")
        name = str(variant)
        found = STANDARD if name.lower() == CHESS960 else find_variant(name)
        if found is None:
            raise ValueError(f"work: unsupported variant {sanitize_line(name, 40)}")
        if not isinstance(fen, str) or not fen.isprintable() or len(fen) > 200:
            raise ValueError("work: invalid position")
        if not isinstance(moves, list) or len(moves) > MAX_MOVES:
            raise ValueError(f"work: invalid moves (expected a list of at most {MAX_MOVES})")
        if not all(isinstance(move, str) and is_uci_move(move) for move in moves):
            raise ValueError("work: invalid move")
        limits = {
            name: _integer(work, name, 10**9) for name in _LIMITS if work.get(name) is not None
        }
        return cls(
            work_id, str(session), _integer(work, "threads", 65536),
            _integer(work, "hash", 1 << 20), _integer(work, "multiPv", 5),
            fen, tuple(moves), limits, work.get("infinite") is True, found,
        )  # fmt: skip


class LichessClient:
    """Client for the two servers of the API. The methods raise the two exceptions of this module.

    The server at `engine_url` distributes analysis requests. The other calls use `url` and `token`.
    """

    def __init__(self, url: str, engine_url: str, token: str, trust: ssl.SSLContext) -> None:
        self._url = url
        self._engine_url = engine_url
        self._token = token
        self._tls_context = trust

    def register(self, registration: Mapping[str, Any]) -> None:
        """Register an engine, or update the registered engine with the same name."""
        path = "/api/external-engine"
        engines = _parse_json(self._request("GET", path))
        if not isinstance(engines, list):
            raise LichessError("invalid answer: expected a list of engines")
        for engine in engines:
            if isinstance(engine, dict) and engine.get("name") == registration["name"]:
                engine_id = str(engine.get("id"))
                if not _ID.fullmatch(engine_id):
                    raise LichessError("invalid answer: invalid engine id")
                self._request("PUT", f"{path}/{engine_id}", registration)
                return
        self._request("POST", path, registration)

    def acquire_work(self, secret: str) -> AnalysisRequest | None:
        """Wait for an analysis request. Return None if the server has no work.

        Raise ValueError if the request is invalid.
        """
        connection = _connection(self._engine_url, self._tls_context, POLL_TIMEOUT_S)
        body = {"providerSecret": secret}
        answer = _exchange(connection, "POST", "/api/external-engine/work", body)
        return None if answer is None else AnalysisRequest.from_json(_parse_json(answer))

    def upload(self, work: AnalysisRequest) -> AnalysisUpload:
        connection = _connection(self._engine_url, self._tls_context, TIMEOUT_S)
        return AnalysisUpload(connection, f"/api/external-engine/work/{work.id}")

    def _request(
        self, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> bytes | None:
        connection = _connection(self._url, self._tls_context, TIMEOUT_S)
        return _exchange(connection, method, path, body, self._token)


class AnalysisUpload:
    """An upload of the results for one analysis request, sent line by line."""

    def __init__(self, connection: http.client.HTTPConnection, path: str) -> None:
        self._connection = connection
        with _translated_errors(self._connection):
            connection.putrequest("POST", path)
            connection.putheader("Content-Type", "text/plain")
            connection.putheader("Transfer-Encoding", "chunked")
            connection.endheaders()

    def send(self, line: str) -> None:
        """Send a line immediately. Raise LichessUnavailableError if the connection is lost."""
        data = f"{line}\n".encode()
        with _translated_errors(self._connection):
            self._connection.send(b"%x\r\n%s\r\n" % (len(data), data))

    def closed_by_server(self) -> bool:
        """Return whether the server has closed the connection or has already responded."""
        stream = self._connection.sock
        stream.settimeout(0.0)
        try:
            stream.recv(1)
        except (BlockingIOError, ssl.SSLWantReadError):
            stream.settimeout(TIMEOUT_S)
            return False
        except OSError:
            pass
        return True

    def finish(self) -> None:
        """End the upload. Raise an error if the server rejects it."""
        with _translated_errors(self._connection):
            self._connection.send(b"0\r\n\r\n")
            response = self._connection.getresponse()
            content = response.read(MAX_RESPONSE_BYTES)
        _check(response.status, content, ())

    def close(self) -> None:
        self._connection.close()


def _connection(url: str, trust: ssl.SSLContext, timeout: float) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port
    if parts.scheme == "https":
        return http.client.HTTPSConnection(host, port, timeout=timeout, context=trust)
    return http.client.HTTPConnection(host, port, timeout=timeout)


def _exchange(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    body: Mapping[str, Any] | None,
    token: str = "",
) -> bytes | None:
    """Send a request. Return the response body, or None for a response without content."""
    headers = {"Accept": "application/json"}
    if body is not None:
        headers["Content-Type"] = "application/json"
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    with contextlib.closing(connection), _translated_errors(connection):
        connection.request(method, path, data, headers)
        response = connection.getresponse()
        content = response.read(MAX_RESPONSE_BYTES + 1)
    _check(response.status, content, (token, *(body or {}).values()))
    if len(content) > MAX_RESPONSE_BYTES:
        raise LichessUnavailableError(f"answer too long (at most {MAX_RESPONSE_BYTES} bytes)")
    return None if response.status == http.client.NO_CONTENT else content


def _parse_json(content: bytes | None) -> Any:
    try:
        return json.loads(content or b"")
    except (ValueError, RecursionError):
        raise LichessUnavailableError("invalid answer: expected JSON") from None


def _check(status: int, content: bytes, secrets: tuple[Any, ...]) -> None:
    """Raise the error for an unsuccessful HTTP status. Secrets are removed from the message."""
    if status in (http.client.OK, http.client.CREATED, http.client.NO_CONTENT):
        return
    text = content[:1000].decode(errors="replace")
    for secret in secrets:
        if isinstance(secret, str) and len(secret) > 8:
            text = text.replace(secret, "...")
    message = f"HTTP status {status}: {sanitize_line(text, 200)}"
    if status in (http.client.UNAUTHORIZED, http.client.FORBIDDEN):
        raise LichessError(f"{message} (the token needs the scopes engine:read and engine:write)")
    if status == http.client.TOO_MANY_REQUESTS:
        raise LichessUnavailableError(message, retry_after=60.0)
    if status >= 500 or status == http.client.REQUEST_TIMEOUT:
        raise LichessUnavailableError(message)
    raise LichessError(message)


@contextlib.contextmanager
def _translated_errors(connection: http.client.HTTPConnection) -> Iterator[None]:
    """Close the connection after an error, and raise an exception of this module instead."""
    try:
        yield
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        untrusted = isinstance(error, ssl.SSLCertVerificationError)
        translated = LichessError if untrusted else LichessUnavailableError
        raise translated(describe_error(error)) from None


def _integer(work: Mapping[str, Any], name: str, maximum: int) -> int:
    value = work.get(name)
    if type(value) is not int or not 1 <= value <= maximum:
        raise ValueError(
            f"{name}: must be from 1 to {maximum} (got {sanitize_line(str(value), 40)})"
        )
    return value
