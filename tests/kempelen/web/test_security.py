"""Access to the pages: tokens, origins, limits, and malicious web pages."""

import http.client
import json
import mimetypes
import re
import select
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from kempelen.console.opening_titles import CONTEXT as OPENING_CONTEXT
from kempelen.web import http_connections, login_sessions, play, security
from kempelen.web.channel import CLOSE_REJECTED
from kempelen.web.layout import STATIC, WORDS, page_words
from kempelen.web.login_sessions import COOKIE_NAME
from kempelen.web.media_types import MEDIA_TYPES
from kempelen.web.security import MAX_BODY_BYTES
from kempelen.web.site_context import SiteResources
from protocols.server import event_log
from protocols.server.limits import BURST_SECONDS, ServerLimits
from protocols.server.tokens import new_token
from tests.kempelen.message_templates import spanish
from tests.kempelen.web.support import PATIENCE, Served, serving
from tests.protocols.server.credentials import Certified, certified  # noqa: F401
from tests.waiting import until


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[tuple[Served, str]]:
    path = str(tmp_path / "tokens")
    token = new_token(path, "alice")
    with serving(tmp_path / "web.sqlite", path, ServerLimits(max_auth_failures=3)) as server:
        yield server, token


def test_every_response_has_security_headers(served: Served) -> None:
    for path in ("/", "/play", "/health", "/static/site.js", "/nothing", "/games"):
        _, headers, _ = served.ask("GET", path)
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] in ("no-cache", "no-store")


@pytest.mark.parametrize(
    ("language", "words"), [("en", "page not found"), ("es", "No existe esa página.")]
)
def test_unknown_page_is_explained_with_navigation(
    served: Served, language: str, words: str
) -> None:
    headers = {"Accept": "text/html", "Accept-Language": language}
    status, _, text = served.ask("GET", "/nothing", **headers)
    assert status == 404
    assert words in text
    assert 'href="/analyse"' in text


UPGRADE = {
    "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}  # fmt: skip


@pytest.mark.parametrize(
    "changed",
    [
        {"Sec-WebSocket-Key": "\xe9" * 24},
        {"Sec-WebSocket-Key": "short"},
        {"Sec-WebSocket-Version": "\xff"},
        {"Sec-WebSocket-Version": "12"},
        {"Sec-WebSocket-Extensions": "\xff"},
        {"Connection": "Upgrade, \xff"},
        {"Content-Length": "5"},
        {"X": "x" * 10_000},
        {f"X-{number}": "x" for number in range(200)},
    ],
)
def test_invalid_websocket_handshake_is_rejected_with_security_headers(
    served: Served, changed: dict[str, str]
) -> None:
    game = served.begin(game="nim")
    status, headers, text = served.ask("GET", f"/games/{game}/channel", **{**UPGRADE, **changed})
    assert (status, text) == (400, "Invalid WebSocket handshake.")
    assert "default-src 'none'" in headers["Content-Security-Policy"]


CHUNKED = b"Host: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nnonsense\r\n\r\n",
        b"POST /no HTTP/1.1\r\n" + CHUNKED,
        b"POST /games HTTP/1.1\r\n" + CHUNKED,
    ],
)
def test_invalid_http_is_rejected_with_security_headers(
    served: Served, sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_connection(("127.0.0.1", served.port), PATIENCE) as connection:
        connection.sendall(sent)
        answer = b""
        with suppress(ConnectionResetError):
            while got := connection.recv(1 << 16):
                answer += got
    responses = answer.split(b"HTTP/1.1 ")[1:]
    assert all(b"default-src 'none'" in response for response in responses)
    assert not [record for record in caplog.records if record.name == "asyncio"]
    assert not [line for line in served.log if "failed" in line]


def test_client_that_leaves_during_its_upload_causes_no_error(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), PATIENCE) as connection:
        connection.sendall(UPLOAD + b"[")
        assert until(lambda: served.site.buffered_bytes)
    assert until(lambda: not served.site.buffered_bytes)
    assert served.ask("GET", "/health")[0] == 200
    assert not [line for line in served.log if "failed" in line]


def test_static_media_types_ignore_system_mime_types(tmp_path: Path) -> None:
    """On Windows another program may register .js as text/plain."""
    known = {suffix: mimetypes.guess_type(f"file{suffix}")[0] for suffix in MEDIA_TYPES}
    try:
        for suffix in MEDIA_TYPES:
            mimetypes.add_type("text/plain", suffix)
        with serving(tmp_path / "web.sqlite") as server:
            for path in STATIC.rglob("*.*"):
                if path.suffix in MEDIA_TYPES:
                    place = path.relative_to(STATIC).as_posix()
                    _, headers, _ = server.ask("GET", f"/static/{place}")
                    found = headers["Content-Type"].partition(";")[0]
                    assert found == MEDIA_TYPES[path.suffix], path
    finally:
        for suffix, media_type in known.items():
            mimetypes.add_type(media_type or "text/plain", suffix)


def test_every_static_file_suffix_has_a_media_type() -> None:
    served = {path.suffix for path in STATIC.rglob("*.*")}
    assert served - {".md"} <= MEDIA_TYPES.keys()


def test_pages_have_no_inline_scripts_or_external_urls(served: Served) -> None:
    _, _, page = served.ask("GET", "/play")
    assert re.findall(r"<script(?![^>]* src=)|\son\w+=|style=|javascript:", page) == []
    own = [path for path in STATIC.rglob("*") if path.suffix in (".js", ".css", ".svg")]
    for path in own:
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        text = text.replace("http://www.w3.org/1999/xlink", "")
        assert "http://" not in text, path
        assert "https://" not in re.sub(r'"https:"', "", text), path


@pytest.mark.parametrize(
    "path",
    [
        "/static/../shell.html",
        "/static/%2e%2e/shell.html",
        "/static/..%2fshell.html",
        "/static/%2e%2e%2f%2e%2e%2fpyproject.toml",
        "/static/words/../../server.py",
        "/static//etc/passwd",
        "/static/..\\shell.html",
        "/play/../../etc/passwd",
        "/games/..%2f..%2fweb.sqlite/record",
    ],
)
def test_path_traversal_is_rejected(served: Served, path: str) -> None:
    status, _, text = served.ask("GET", path)
    assert status == 404
    assert "$title" not in text
    assert "root:" not in text


@pytest.mark.parametrize("number", ["9" * 5000, "9" * 10, "\N{SUPERSCRIPT TWO}"])
def test_invalid_numbers_in_requests_are_rejected(served: Served, number: str) -> None:
    game = served.begin(game="nim")
    quoted = quote(number)
    for path in (
        f"/games/{game}/at/{quoted}",
        f"/watch/{quoted}",
        f"/watch/1/board/{quoted}",
        f"/watch/{quoted}/games",
    ):
        assert served.ask("GET", path)[0] == 404
    assert served.ask("GET", "/static/site.js", Range=f"bytes={quoted}-")[0] in (400, 416)
    assert served.ask("GET", f"/watch/1/games?before={quoted}")[0] == 404  # no tournament
    with pytest.raises(InvalidStatus):
        connect(f"ws://127.0.0.1:{served.port}/watch/{quoted}/channel", proxy=None)
    for name in ("Content-Length", "content-length"):
        assert served.ask("POST", "/games", None, **{name: quoted})[0] in (400, 413)
    assert not [line for line in served.log if "failed" in line]


def test_foreign_host_header_is_rejected(served: Served) -> None:
    status, _, text = served.ask("GET", "/play", Host="evil.example")
    assert (status, "host name not allowed" in text) == (421, True)
    assert served.ask("GET", "/play", Host=f"localhost:{served.port}")[0] == 200


def test_malformed_host_and_origin_headers_are_rejected(served: Served) -> None:
    assert served.ask("GET", "/play", Host="[::1")[0] == 421
    assert served.ask("POST", "/games", {"game": "nim"}, Origin="http://[::1")[0] == 403
    assert not [line for line in served.log if "failed" in line]


def test_cross_origin_requests_are_rejected(served: Served) -> None:
    for origin in ("https://evil.example", "null", f"http://127.0.0.1:{served.port + 1}"):
        status, _, _ = served.ask("POST", "/games", {"game": "nim"}, Origin=origin)
        assert status == 403
    assert served.ask("POST", "/games", {"game": "nim"}, Origin=served.base)[0] == 201
    game = served.begin(game="nim")
    with pytest.raises(InvalidStatus) as refusal:
        served.watch(game, Origin="https://evil.example")
    assert refusal.value.response.status_code == 403
    assert served.site.metrics.value("refused", "origin") >= 4


def test_oversized_body_is_rejected(served: Served) -> None:
    status, _, _ = served.ask("POST", "/games", b" " * (MAX_BODY_BYTES + 1))
    assert status == 413


def test_oversized_chunked_body_is_rejected(served: Served) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    pieces = (b" " * (1 << 16) for _ in range((MAX_BODY_BYTES >> 16) + 1))
    connection.request("POST", "/games", pieces, encode_chunked=True)
    response = connection.getresponse()
    assert (response.status, b"request too large" in response.read()) == (413, True)
    assert response.headers["Content-Security-Policy"]
    connection.request("GET", "/health")  # on the same connection
    assert connection.getresponse().status == 200
    connection.close()
    assert not [line for line in served.log if "failed" in line]


def test_concurrent_large_uploads_are_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(security, "MAX_BUFFERED_BYTES", 1 << 20)
    monkeypatch.setattr(security, "LARGE_BODY_BYTES", 1 << 16)
    large = b"POST /games HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2000000\r\n\r\n"
    with serving(tmp_path / "web.sqlite") as served:
        with socket.create_connection(("127.0.0.1", served.port), PATIENCE) as slow:
            slow.sendall(large + b" " * 1_000_000)
            assert until(lambda: served.site.buffered_bytes >= 1_000_000)
            status, headers, text = served.ask("POST", "/games", b" " * (1 << 17))
            assert (status, "try again" in text) == (503, True)
            assert headers["Retry-After"] == "60"
            assert served.ask("POST", "/games", {"game": "nim"})[0] == 201
        assert until(lambda: served.site.buffered_bytes == 0)
        assert served.ask("POST", "/games", b" " * (1 << 17))[0] == 400


def test_session_cookies_per_visitor_are_limited(
    guarded: tuple[Served, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    served, token = guarded
    monkeypatch.setattr(login_sessions, "MAX_COOKIES_PER_NAME", 3)
    cookies = []
    for _ in range(5):
        _, headers, _ = served.ask("POST", "/signin", {"token": token})
        cookies.append(headers["Set-Cookie"].partition(";")[0])
    let_in = [served.ask("GET", "/games", Cookie=cookie)[0] == 200 for cookie in cookies]
    assert let_in == [False, False, True, True, True]


def test_requests_per_visitor_are_rate_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_log, "MAX_STRANGER_EVENTS", 20)
    path = str(tmp_path / "tokens")
    tokens = {name: new_token(path, name) for name in ("alice", "bob")}
    limits = ServerLimits(request_rate=1.0)
    with serving(tmp_path / "web.sqlite", path, limits) as served:
        cookies = {}
        for name, token in tokens.items():
            _, headers, _ = served.ask("POST", "/signin", {"token": token})
            cookies[name] = headers["Set-Cookie"].partition(";")[0]

        def ask(**headers: str) -> int:
            status, given, text = served.ask("GET", "/games/choices", **headers)
            if status == 429:
                assert 1 <= int(given["Retry-After"]) <= 2
                assert given["Content-Security-Policy"]
                assert "too many requests" in text
            return status

        asked = [ask(Cookie=cookies["alice"]) for _ in range(int(BURST_SECONDS) + 60)]
        assert asked[: int(BURST_SECONDS)] == [200] * int(BURST_SECONDS)
        assert asked.count(429) > 30
        assert ask(Cookie=cookies["bob"]) == 200  # another user of the same address
        assert ask() == 401  # and an anonymous one
        assert served.ask("GET", "/static/site.js", Cookie=cookies["alice"])[0] == 200
        assert served.site.metrics.value("refused", "requests") == asked.count(429)
        # The log contains only some of them.
        assert 0 < len([line for line in served.log if "too many requests" in line]) <= 30
        while ask(Cookie=cookies["alice"]) != 429:  # more requests may have become available
            pass
        with pytest.raises(InvalidStatus) as refusal:
            served.watch("any", Cookie=cookies["alice"])
        assert refusal.value.response.status_code == 429


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},  # another port of this machine
        {"Origin": "https://evil.example"},  # browsers send no Sec-Fetch-Site to some http: URLs
        {"Host": "evil.example", "Sec-Fetch-Site": "same-origin"},  # DNS rebinding
    ],
)
def test_requests_of_another_site_do_not_count_against_visitor(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    """A page of another site, open in the visitor's browser, cannot use up the visitor's rate."""
    with serving(tmp_path / "web.sqlite", limits=ServerLimits(request_rate=0.1)) as served:
        method = "POST" if "Origin" in headers else "GET"
        asked = [served.ask(method, "/games/choices", **headers)[0] for _ in range(9)]
        assert asked[-1] == 429
        for own in ({"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}):
            assert served.ask("GET", "/games/choices", **own)[0] == 200


def test_rate_limit_allows_burst_from_one_address(tmp_path: Path) -> None:
    """Many users of one address load a page, its files and its data at once."""
    limits = ServerLimits(request_rate=1.5)
    with serving(tmp_path / "web.sqlite", limits=limits) as served:
        files = [f"/static/{path.name}" for path in STATIC.glob("*.js")]
        for _ in range(8):
            for path in ["/play", "/games/choices", "/games", *files]:
                assert served.ask("GET", path)[0] == 200


@pytest.mark.parametrize("body", [b"", b"[]", b"nonsense", b"[" * 100_000, b'{"game": 1}', b"\xff"])
def test_malformed_body_is_rejected(served: Served, body: bytes) -> None:
    status, _, text = served.ask("POST", "/games", body)
    assert status == 400
    assert json.loads(text)["error"]


def test_health_and_metrics_are_served(served: Served) -> None:
    assert served.ask("GET", "/health")[::2] == (200, "ok\n")
    status, _, text = served.ask("GET", "/metrics")
    assert status == 200
    assert "kempelen_sessions 0" in text


def test_pages_require_token_or_session_cookie(guarded: tuple[Served, str]) -> None:
    served, token = guarded
    status, _, page = served.ask("GET", "/play")
    assert status == 401
    assert "/static/signin.js" in page
    assert served.ask("GET", "/static/signin.js")[0] == 200
    for path in ("/games", "/games/choices", "/metrics"):
        assert served.ask("GET", path)[0] == 401
    # A token in a URL is ignored.
    assert served.ask("GET", f"/play?token={token}")[0] == 401
    status, headers, _ = served.ask("POST", "/signin", {"token": token})
    assert status == 200
    given = headers["Set-Cookie"]
    assert "HttpOnly" in given
    assert "SameSite=strict" in given
    cookie = given.partition(";")[0]
    assert token not in given
    assert served.ask("GET", "/games", Cookie=cookie)[0] == 200
    assert served.ask("GET", "/metrics", Authorization=f"Bearer {token}")[0] == 200
    status, _, text = served.ask("POST", "/games", {"game": "nim"}, Cookie=cookie)
    game = json.loads(text)["id"]
    line = served.watch(game, Cookie=cookie)
    assert line.hear("welcome")["mine"]
    line.close()
    with pytest.raises(ConnectionClosed):
        served.watch(game).hear("welcome")
    assert served.ask("POST", "/signout", {}, Cookie=cookie)[0] == 200
    assert served.ask("GET", "/games", Cookie=cookie)[0] == 401
    kept = served.site.database.path.read_bytes()
    value = cookie.removeprefix(f"{COOKIE_NAME}=")
    for secret in (token, value):
        assert secret not in "\n".join(served.log)
        assert secret.encode() not in kept


def test_requests_without_token_do_not_block_sign_in(guarded: tuple[Served, str]) -> None:
    served, token = guarded
    for _ in range(5):
        assert served.ask("GET", "/metrics")[0] == 401
    assert served.ask("POST", "/signin", {"token": token})[0] == 200


def test_oversized_sign_in_form_is_rejected(guarded: tuple[Served, str]) -> None:
    served, token = guarded
    for form in ({"token": [{}] * 5000}, {"token": token, "more": "x" * 5000}):
        status, _, text = served.ask("POST", "/signin", form)
        assert status == 400
        assert "missing token" in text


def test_revoked_token_ends_session(guarded: tuple[Served, str], tmp_path: Path) -> None:
    served, token = guarded
    _, headers, _ = served.ask("POST", "/signin", {"token": token})
    cookie = headers["Set-Cookie"].partition(";")[0]
    assert served.ask("GET", "/games", Cookie=cookie)[0] == 200
    file = tmp_path / "tokens"
    file.write_text(file.read_text().replace("alice", "bob"))
    assert served.ask("GET", "/games", Cookie=cookie)[0] == 401
    another = new_token(str(file), "alice")
    assert served.ask("GET", "/games", Cookie=cookie)[0] == 401
    _, headers, _ = served.ask("POST", "/signin", {"token": another})
    cookie = headers["Set-Cookie"].partition(";")[0]
    assert served.ask("GET", "/games", Cookie=cookie)[0] == 200


def test_sign_in_is_blocked_after_too_many_wrong_tokens(guarded: tuple[Served, str]) -> None:
    served, token = guarded
    for _ in range(3):
        status, _, text = served.ask("POST", "/signin", {"token": "wrong"})
        assert status == 401
        assert json.loads(text)["error"] in page_words("signin", "es")
    _, _, text = served.ask("POST", "/signin", {"token": token})
    assert "too many wrong tokens" in text
    assert json.loads(text)["error"] in page_words("signin", "es")


def test_too_many_sessions_per_address_are_rejected(tmp_path: Path) -> None:
    limits = ServerLimits(max_sessions_per_ip=2)
    with serving(tmp_path / "web.sqlite", limits=limits) as served:
        game = served.begin(game="nim")
        lines = [served.watch(game) for _ in range(2)]
        for line in lines:
            line.hear("welcome")
        with pytest.raises(ConnectionClosed, match="too many sessions from your address") as end:
            served.watch(game).hear("welcome")
        assert end.value.rcvd is not None
        assert end.value.rcvd.reason in page_words("site", "es")
        for line in lines:
            line.close()


@pytest.mark.parametrize("limits", [ServerLimits(idle_timeout=0.2), ServerLimits(max_session=0.2)])
def test_idle_or_long_session_is_closed(tmp_path: Path, limits: ServerLimits) -> None:
    with serving(tmp_path / "web.sqlite", limits=limits) as served:
        line = served.watch(served.begin(game="nim"))
        with pytest.raises(ConnectionClosed, match="session timed out; reload the page") as end:
            line.hear("nothing")
        assert end.value.rcvd is not None
        assert end.value.rcvd.code == CLOSE_REJECTED
        assert end.value.rcvd.reason in page_words("site", "es")
        assert until(lambda: not served.site.admission.sessions)


def test_connection_without_request_is_closed(tmp_path: Path) -> None:
    limits = ServerLimits(auth_timeout=0.2)
    with serving(tmp_path / "web.sqlite", limits=limits) as served:
        for begun in (b"", b"GET / HTTP/1.1\r\nHost:"):
            with socket.create_connection(("127.0.0.1", served.port), PATIENCE) as connection:
                connection.sendall(begun)
                assert ends(connection)
        line = served.watch(served.begin(game="nim"))
        line.hear("welcome")
        time.sleep(2 * limits.auth_timeout)
        line.send(do="nonsense")
        line.hear("error")
        line.close()


PAGE = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
UPLOAD = b"POST /games HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 16384\r\n\r\n"


@pytest.mark.parametrize(
    "begun", [b"GET / HTTP/1.1\r\nHost:", UPLOAD, UPLOAD + b"[", UPLOAD.replace(b"/games", b"/no")]
)
@pytest.mark.parametrize("first", [b"", PAGE])
def test_slow_request_times_out(tmp_path: Path, first: bytes, begun: bytes) -> None:
    """Neither the first request of a connection nor a later one, neither head nor body."""
    limits = ServerLimits(auth_timeout=0.3)
    with serving(tmp_path / "web.sqlite", limits=limits) as served:
        address = ("127.0.0.1", served.port)
        with socket.create_connection(address, PATIENCE) as connection:
            connection.sendall(first)
            if first:
                answer = b""
                while not answer.endswith(b"ok\n"):
                    answer += connection.recv(1 << 16)
            time.sleep(0.2)
            connection.sendall(begun)
            began = time.monotonic()
            connection.settimeout(0.05)
            while time.monotonic() - began < PATIENCE:
                try:
                    if not connection.recv(1 << 16):
                        break
                except TimeoutError:
                    with suppress(OSError):
                        connection.sendall(b" ")
                except ConnectionResetError:
                    break
            assert time.monotonic() - began < 5.0


def test_steady_upload_does_not_time_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = ServerLimits(auth_timeout=0.3)
    monkeypatch.setattr(http_connections, "MIN_BYTES_PER_S", 8192)
    with (
        serving(tmp_path / "web.sqlite", limits=limits) as served,
        socket.create_connection(("127.0.0.1", served.port), PATIENCE) as connection,
    ):
        connection.sendall(UPLOAD)
        for _ in range(4):
            connection.sendall(b" " * 4096)
            time.sleep(0.25)
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 400")  # not a JSON object


def test_client_that_stops_reading_is_disconnected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_connections, "WRITE_TIMEOUT_S", 0.3)
    size = 32 << 20
    offers = SiteResources(choices=lambda: {"games": "x" * size})
    asked = PAGE.replace(b"/health", b"/lessons/choices")
    with (
        serving(tmp_path / "web.sqlite", offers=offers) as served,
        socket.socket() as connection,
    ):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        connection.settimeout(PATIENCE)
        connection.connect(("127.0.0.1", served.port))
        connection.sendall(asked)
        read = len(connection.recv(1))
        time.sleep(2.0)
        with suppress(ConnectionResetError):
            while got := connection.recv(1 << 20):
                read += len(got)
        assert read < size


def test_client_gone_before_accept_is_not_counted(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def vanish(*arguments: Any) -> None:
        raise WebSocketDisconnect(1006)

    with monkeypatch.context() as patch:
        patch.setattr(WebSocket, "accept", vanish)
        with suppress(InvalidStatus, ConnectionClosed):
            served.watch("any")
    assert until(lambda: not served.site.admission.waiting)
    assert served.site.admission._per_address == {}


def test_binary_channel_message_is_rejected(served: Served) -> None:
    line = served.watch(served.begin(game="nim"))
    line.hear("game")
    line.socket.send(b'{"do": "resign"}')
    assert "JSON" in line.hear("error")["text"]
    line.close()
    assert not [line for line in served.log if "failed" in line]


def test_running_request_is_answered_during_shutdown_grace(tmp_path: Path) -> None:
    begun = threading.Event()

    def make(asked: Any) -> str:
        begun.set()
        time.sleep(2.5)
        return "made"

    offers, limits = SiteResources(steps=make), ServerLimits(shutdown_timeout=10.0)
    with ThreadPoolExecutor(1) as pool:
        with serving(tmp_path / "web.sqlite", limits=limits, offers=offers) as served:
            answer = pool.submit(served.ask, "POST", "/lessons/steps", b"")
            assert begun.wait(PATIENCE)
        assert answer.result(PATIENCE)[::2] == (200, "made")


def test_connections_per_address_are_limited(tmp_path: Path) -> None:
    limits = ServerLimits(max_sessions_per_ip=2)
    with serving(tmp_path / "web.sqlite", limits=limits) as served, ExitStack() as stack:
        address = ("127.0.0.1", served.port)
        kept = [
            stack.enter_context(socket.create_connection(address, PATIENCE))
            for _ in range(2 * limits.max_sessions_per_ip)
        ]
        assert until(lambda: len(ended(kept)) == limits.max_sessions_per_ip)
        assert served.ask("GET", "/health")[0] == 200
        assert len(ended(kept)) == limits.max_sessions_per_ip + 1


def test_busy_connections_are_not_closed_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If every connection of an address waits for a response, newcomers are closed."""
    go_on = threading.Event()
    monkeypatch.setattr(play.page, "form_choices", lambda _: {"waited": go_on.wait(PATIENCE)})
    limits = ServerLimits(max_sessions_per_ip=1)
    with serving(tmp_path / "web.sqlite", limits=limits) as served, ThreadPoolExecutor(2) as pool:
        pending, visitor = served.site.visitor_locks._pending, ("address", "127.0.0.1")
        first = pool.submit(served.ask, "GET", "/games/choices")
        assert until(lambda: pending[visitor] == 1)
        second = pool.submit(served.ask, "GET", "/games/choices")
        assert until(lambda: pending[visitor] == 2)
        with socket.create_connection(("127.0.0.1", served.port), PATIENCE) as further:
            assert ends(further)
        go_on.set()
        assert first.result(PATIENCE)[0] == second.result(PATIENCE)[0] == 200


def ended(connections: Sequence[socket.socket]) -> list[socket.socket]:
    """Return the connections that the server has closed."""
    return select.select(connections, [], [], 0)[0]


def ends(connection: socket.socket) -> bool:
    """Wait until the server has closed a connection."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_every_text_of_a_page_has_a_translation() -> None:
    """tests/kempelen/test_translation.py compares their placeholders."""
    contexts = {message.context for message in spanish()} - {None, OPENING_CONTEXT}
    texts = {path.stem: page_words(path.stem, "en") for path in WORDS.glob("*.json")}
    assert contexts == {f"{page}: {key}" for page, words in texts.items() for key in words}


def test_texts_of_pages_are_served_in_both_languages(served: Served) -> None:
    for language in ("en", "es"):
        status, _, text = served.ask("GET", f"/static/words/play.{language}.json")
        assert (status, json.loads(text)) == (200, page_words("play", language))
    for name in ("play.xx", "none.es", "..%2Fsite.es"):
        assert served.ask("GET", f"/static/words/{name}.json")[0] == 404


def test_language_cookie_overrides_accept_language(served: Served) -> None:
    _, _, spanish = served.ask("GET", "/play", **{"Accept-Language": "es-AR,es;q=0.9"})
    assert '<html lang="es"' in spanish
    assert "Jugar" in spanish
    cookie = "language=en; theme=dark"
    _, _, chosen = served.ask("GET", "/play", **{"Accept-Language": "es", "Cookie": cookie})
    assert '<html lang="en" data-theme="dark"' in chosen
    odd = 'language=<script>; theme="><script>alert(1)</script>'
    assert "<script>" not in served.ask("GET", "/play", Cookie=odd)[2]


def test_scripts_do_not_show_untranslated_server_messages() -> None:
    """The page translates them with its table of texts."""
    shown = r"(textContent = |alert. }, )(error\.message|message\.text|event\.reason)"
    for path in STATIC.glob("*.js"):
        assert not re.search(shown, path.read_text()), path


@pytest.mark.parametrize("page", sorted(path.stem for path in WORDS.glob("*.json")))
def test_script_size_of_each_page_is_limited(page: str) -> None:
    """Return the files of a page: those for the first drawing, and all."""
    needed, waiting = set[Path](), [STATIC / f"{page}.js"]
    while waiting:
        path = waiting.pop().resolve()
        if path not in needed:
            needed.add(path)
            named = re.findall(r"""(?:from|import\()\s*"(\./[^"]+)\"""", path.read_text())
            waiting += [path.parent / name for name in named]
    assert STATIC / "site.js" in needed
    assert sum(path.stat().st_size for path in needed) < 150_000


def test_silent_tls_connection_is_closed(
    tmp_path: Path,
    certified: Certified,  # noqa: F811
) -> None:
    limits = ServerLimits(auth_timeout=0.3)
    with serving(tmp_path / "web.sqlite", limits=limits, tls=certified.server) as served:
        silent = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(5)]
        began = time.monotonic()
        for each in silent:
            each.settimeout(PATIENCE)
            with suppress(ConnectionError):
                assert each.recv(1) == b""
            each.close()
        assert time.monotonic() - began < PATIENCE / 4
        secure = http.client.HTTPSConnection(
            "localhost", served.port, timeout=PATIENCE, context=certified.client
        )
        secure.request("GET", "/health")
        assert secure.getresponse().read() == b"ok\n"
        secure.close()
