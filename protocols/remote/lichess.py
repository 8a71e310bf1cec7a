"""lichess's API for external engines, over HTTP.

Source: 'External engine' of lichess's API documentation, and its examples of a provider. The
standard library's client is used because one thread both uploads and sees the server hang up,
also while there is nothing to upload; libraries tell of that at the next write.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from agent.io.sanitize import sanitize_line

MAX_RESPONSE_BYTES = 1 << 20
# Seconds: for an answer, and for one that is held back until there is work.
TIMEOUT_S = 20.0
POLL_TIMEOUT_S = 90.0
MAX_MOVES = 600
VARIANTS = ("chess", "standard", "chess960", "fromposition")
_MOVE = re.compile(r"[a-h][1-8][a-h][1-8][qrbnk]?")
_ID = re.compile(r"[\w-]{1,200}")
_LIMITS = ("movetime", "depth", "nodes")


class LichessError(Exception):
    """An answer that will not change; the message names the remedy where there is one."""


class LichessUnavailableError(Exception):
    """There is no answer now. pause: seconds that the server wants to be left alone, or 0."""

    def __init__(self, message: str, pause: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after = pause


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be analysed. limits: movetime (milliseconds), depth, nodes; none: endless."""

    id: str
    session: str
    threads: int
    megabytes: int
    multipv: int
    fen: str
    moves: tuple[str, ...]
    limits: Mapping[str, int]
    infinite: bool

    @classmethod
    def from_json(cls, answer: Any) -> Work:
        """Read what the server wants; ValueError, with the reason, for what cannot be meant."""
        try:
            number, work = answer["id"], answer["work"]
            moves = work["moves"]
            session, variant, fen = work["sessionId"], work["variant"], work["initialFen"]
        except (KeyError, TypeError) as error:
            raise ValueError(f"work without {error}") from None
        if not isinstance(number, str) or not _ID.fullmatch(number):
            raise ValueError("work with an id that is none")
        if not isinstance(variant, str) or variant.lower().replace(" ", "") not in VARIANTS:
            raise ValueError(f"variant {sanitize_line(str(variant), 40)} is not played here")
        if not isinstance(fen, str) or not fen.isprintable() or len(fen) > 200:
            raise ValueError("a position that is none")
        if not isinstance(moves, list) or len(moves) > MAX_MOVES:
            raise ValueError("moves that are none, or too many")
        if not all(isinstance(move, str) and _MOVE.fullmatch(move) for move in moves):
            raise ValueError("a move that is none")
        limits = {
            name: _integer(work, name, 10**9) for name in _LIMITS if work.get(name) is not None
        }
        return cls(
            number, str(session), _integer(work, "threads", 65536), _integer(work, "hash", 1 << 20),
            _integer(work, "multiPv", 5), fen, tuple(moves), limits, work.get("infinite") is True,
        )  # fmt: skip


class LichessClient:
    """Both servers of the API. url: registers engines; engine_url: hands out work.

    token: opens the first; it is never shown. trust: of https.
    """

    def __init__(self, url: str, engine_url: str, token: str, trust: ssl.SSLContext) -> None:
        self._url = url
        self._engine_url = engine_url
        self._token = token
        self._tls_context = trust

    def register(self, registration: Mapping[str, Any]) -> None:
        """Register an engine, or change the one of that name. Raises as all methods do."""
        path = "/api/external-engine"
        engines = self._json(self._request("GET", path))
        if not isinstance(engines, list):
            raise LichessError("the list of engines is none")
        for engine in engines:
            if isinstance(engine, dict) and engine.get("name") == registration["name"]:
                number = str(engine.get("id"))
                if not _ID.fullmatch(number):
                    raise LichessError("the list of engines has an id that is none")
                self._request("PUT", f"{path}/{number}", registration)
                return
        self._request("POST", path, registration)

    def acquire_work(self, secret: str) -> Work | None:
        """Wait for work, for a while; ValueError for some that cannot be done."""
        connection = _connection(self._engine_url, self._tls_context, POLL_TIMEOUT_S)
        answer = self._exchange(
            connection, "POST", "/api/external-engine/work", {"providerSecret": secret}, {}
        )
        return None if answer is None else Work.from_json(self._json(answer))

    def upload(self, work: Work) -> Upload:
        """Begin to answer work."""
        connection = _connection(self._engine_url, self._tls_context, TIMEOUT_S)
        return Upload(connection, f"/api/external-engine/work/{work.id}")

    def _request(
        self, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> bytes | None:
        connection = _connection(self._url, self._tls_context, TIMEOUT_S)
        headers = {"Authorization": f"Bearer {self._token}"}
        return self._exchange(connection, method, path, body, headers)

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        headers: dict[str, str],
    ) -> bytes | None:
        """Return an answer, None if it has no content."""
        headers["Accept"] = "application/json"
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        with contextlib.closing(connection):
            try:
                connection.request(method, path, data, headers)
                response = connection.getresponse()
                content = response.read(MAX_RESPONSE_BYTES + 1)
            except (OSError, http.client.HTTPException) as error:
                raise _translate_error(error) from None
        _check(response.status, content, (self._token, *(body or {}).values()))
        if len(content) > MAX_RESPONSE_BYTES:
            raise LichessUnavailableError(f"an answer of more than {MAX_RESPONSE_BYTES} bytes")
        return None if response.status == http.client.NO_CONTENT else content

    def _json(self, content: bytes | None) -> Any:
        try:
            return json.loads(content or b"")
        except (ValueError, RecursionError):
            raise LichessUnavailableError("an answer that is no JSON") from None


class Upload:
    """The answer to work, on its way line by line."""

    def __init__(self, connection: http.client.HTTPConnection, path: str) -> None:
        self._connection = connection
        try:
            connection.putrequest("POST", path)
            connection.putheader("Content-Type", "text/plain")
            connection.putheader("Transfer-Encoding", "chunked")
            connection.endheaders()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise _translate_error(error) from None

    def send(self, line: str) -> None:
        """Send a line at once; LichessUnavailableError if nobody wants it."""
        data = f"{line}\n".encode()
        try:
            self._connection.send(b"%x\r\n%s\r\n" % (len(data), data))
        except OSError as error:
            raise _translate_error(error) from None

    def closed_by_server(self) -> bool:
        """Tell whether the server has hung up, or answered before the end."""
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
        """End it, and hear whether it was welcome."""
        try:
            self._connection.send(b"0\r\n\r\n")
            response = self._connection.getresponse()
            content = response.read(MAX_RESPONSE_BYTES)
        except (OSError, http.client.HTTPException) as error:
            raise _translate_error(error) from None
        _check(response.status, content, ())

    def close(self) -> None:
        """Hang up."""
        self._connection.close()


def _connection(url: str, trust: ssl.SSLContext, timeout: float) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port
    if parts.scheme == "https":
        return http.client.HTTPSConnection(host, port, timeout=timeout, context=trust)
    return http.client.HTTPConnection(host, port, timeout=timeout)


def _check(status: int, content: bytes, secrets: tuple[Any, ...]) -> None:
    """Raise what a status means, unless it is a good one."""
    if status in (http.client.OK, http.client.CREATED, http.client.NO_CONTENT):
        return
    words = content[:1000].decode(errors="replace")
    for secret in secrets:
        if isinstance(secret, str) and len(secret) > 8:
            words = words.replace(secret, "...")
    message = f"HTTP status {status}: {sanitize_line(words, 200)}"
    if status in (http.client.UNAUTHORIZED, http.client.FORBIDDEN):
        raise LichessError(f"{message}; the token needs the scopes engine:read and engine:write")
    if status == http.client.TOO_MANY_REQUESTS:
        raise LichessUnavailableError(message, pause=60.0)
    if status >= 500 or status == http.client.REQUEST_TIMEOUT:
        raise LichessUnavailableError(message)
    raise LichessError(message)


def _translate_error(error: Exception) -> LichessUnavailableError | LichessError:
    """Return what it means that no answer came."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return LichessError(
            f"the server's certificate is not trusted: {sanitize_line(error.verify_message, 200)}; "
            "name the authority that signed it by --ca FILE"
        )
    strerror = error.strerror if isinstance(error, OSError) else None
    return LichessUnavailableError(
        sanitize_line(strerror or str(error) or type(error).__name__, 200)
    )


def _integer(work: Mapping[str, Any], name: str, maximum: int) -> int:
    value = work.get(name)
    if type(value) is not int or not 1 <= value <= maximum:
        raise ValueError(
            f"{name} from 1 to {maximum} is expected, not {sanitize_line(str(value), 40)}"
        )
    return value
