"""Who may ask the pages, and what a page of strangers cannot do."""

import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import quote

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from protocols.server.limits import ServerLimits
from protocols.server.tokens import new_token
from tests.web.support import PATIENCE, Served, serving
from web.channel import REFUSED
from web.guard import MOST_BODY
from web.shell import STATIC, words
from web.visitors import COOKIE


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("pages") / "web.sqlite") as server:
        yield server


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[tuple[Served, str]]:
    path = str(tmp_path / "tokens")
    token = new_token(path, "alice")
    with serving(tmp_path / "web.sqlite", path, ServerLimits(wrong_tokens=3)) as server:
        yield server, token


def test_every_answer_has_the_policy(served: Served) -> None:
    for path in ("/", "/play", "/health", "/static/site.js", "/nothing", "/games"):
        _, headers, _ = served.ask("GET", path)
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_no_page_has_an_inline_script_or_an_address_elsewhere(served: Served) -> None:
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
def test_no_path_leads_out(served: Served, path: str) -> None:
    status, _, text = served.ask("GET", path)
    assert status == 404
    assert "$title" not in text
    assert "root:" not in text


@pytest.mark.parametrize("number", ["9" * 5000, "9" * 10, "\N{SUPERSCRIPT TWO}"])
def test_numbers_that_are_none_lead_nowhere(served: Served, number: str) -> None:
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
    assert served.ask("GET", f"/watch/1/games?before={quoted}")[0] == 404  # there is none
    with pytest.raises(InvalidStatus):
        connect(f"ws://127.0.0.1:{served.port}/watch/{quoted}/channel", proxy=None)
    for name in ("Content-Length", "content-length"):
        assert served.ask("POST", "/games", None, **{name: quoted})[0] in (400, 413)
    assert not [line for line in served.log if "failed" in line]


def test_names_that_lead_here_are_not_ours(served: Served) -> None:
    status, _, text = served.ask("GET", "/play", Host="evil.example")
    assert (status, "use the address of this server" in text) == (421, True)
    assert served.ask("GET", "/play", Host=f"localhost:{served.port}")[0] == 200


def test_addresses_that_are_written_wrongly(served: Served) -> None:
    assert served.ask("GET", "/play", Host="[::1")[0] == 421
    assert served.ask("POST", "/games", {"game": "nim"}, Origin="http://[::1")[0] == 403
    assert not [line for line in served.log if "failed" in line]


def test_pages_from_elsewhere_change_nothing(served: Served) -> None:
    for origin in ("https://evil.example", "null", f"http://127.0.0.1:{served.port + 1}"):
        status, _, _ = served.ask("POST", "/games", {"game": "nim"}, Origin=origin)
        assert status == 403
    assert served.ask("POST", "/games", {"game": "nim"}, Origin=served.base)[0] == 201
    game = served.begin(game="nim")
    with pytest.raises(InvalidStatus) as refusal:
        served.watch(game, Origin="https://evil.example")
    assert refusal.value.response.status_code == 403
    assert served.site.metrics.of("refused", "origin") >= 4


def test_what_is_too_large_is_not_read(served: Served) -> None:
    status, _, _ = served.ask("POST", "/games", b" " * (MOST_BODY + 1))
    assert status == 413


@pytest.mark.parametrize("body", [b"", b"[]", b"nonsense", b"[" * 100_000, b'{"game": 1}', b"\xff"])
def test_nonsense_is_answered(served: Served, body: bytes) -> None:
    status, _, text = served.ask("POST", "/games", body)
    assert status == 400
    assert json.loads(text)["error"]


def test_health_and_metrics_at_the_same_address(served: Served) -> None:
    assert served.ask("GET", "/health")[::2] == (200, "ok\n")
    status, _, text = served.ask("GET", "/metrics")
    assert status == 200
    assert "kempelen_sessions 0" in text


def test_a_token_opens_all_and_nothing_is_open_without(guarded: tuple[Served, str]) -> None:
    served, token = guarded
    status, _, page = served.ask("GET", "/play")
    assert status == 401
    assert "/static/signin.js" in page
    assert served.ask("GET", "/static/signin.js")[0] == 200
    for path in ("/games", "/games/choices", "/metrics"):
        assert served.ask("GET", path)[0] == 401
    # In an address it is worth nothing.
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
    kept = served.site.store.path.read_bytes()
    value = cookie.removeprefix(f"{COOKIE}=")
    for secret in (token, value):
        assert secret not in "\n".join(served.log)
        assert secret.encode() not in kept


def test_whose_token_is_taken_away_is_out(guarded: tuple[Served, str], tmp_path: Path) -> None:
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


def test_wrong_tokens_are_counted(guarded: tuple[Served, str]) -> None:
    served, token = guarded
    for _ in range(3):
        status, _, text = served.ask("POST", "/signin", {"token": "wrong"})
        assert status == 401
        assert json.loads(text)["error"] in words("signin", "es")
    _, _, text = served.ask("POST", "/signin", {"token": token})
    assert "too many wrong tokens" in text
    assert json.loads(text)["error"] in words("signin", "es")


def test_too_many_pages_are_told_so(tmp_path: Path) -> None:
    limits = ServerLimits(sessions_of_address=2)
    with serving(tmp_path / "web.sqlite", limits=limits) as served:
        game = served.begin(game="nim")
        lines = [served.watch(game) for _ in range(2)]
        for line in lines:
            line.hear("welcome")
        with pytest.raises(ConnectionClosed, match="too many sessions from your address") as end:
            served.watch(game).hear("welcome")
        assert end.value.rcvd is not None
        assert end.value.rcvd.reason in words("site", "es")
        for line in lines:
            line.close()


@pytest.mark.parametrize("limits", [ServerLimits(idle=0.2), ServerLimits(longest=0.2)])
def test_a_page_that_is_open_for_too_long_ends(tmp_path: Path, limits: ServerLimits) -> None:
    with serving(tmp_path / "web.sqlite", limits=limits) as served:
        line = served.watch(served.begin(game="nim"))
        with pytest.raises(ConnectionClosed, match="open for too long; load it again") as end:
            line.hear("nothing")
        assert end.value.rcvd is not None
        assert end.value.rcvd.code == REFUSED
        assert end.value.rcvd.reason in words("site", "es")
        deadline = time.monotonic() + PATIENCE
        while served.site.door.sessions and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not served.site.door.sessions


def test_who_asks_for_nothing_is_cut_off(tmp_path: Path) -> None:
    limits = ServerLimits(authorising=0.2)
    with serving(tmp_path / "web.sqlite", limits=limits) as served:
        for begun in (b"", b"GET / HTTP/1.1\r\nHost:"):
            with socket.create_connection(("127.0.0.1", served.port), PATIENCE) as connection:
                connection.sendall(begun)
                assert ends(connection)
        line = served.watch(served.begin(game="nim"))
        line.hear("welcome")
        time.sleep(2 * limits.authorising)
        line.send(do="nonsense")
        line.hear("error")
        line.close()


def test_more_connections_than_a_crowd_are_cut_off(tmp_path: Path) -> None:
    limits = ServerLimits(sessions_of_address=2)
    with serving(tmp_path / "web.sqlite", limits=limits) as served, ExitStack() as stack:
        address = ("127.0.0.1", served.port)
        kept = [
            stack.enter_context(socket.create_connection(address, PATIENCE))
            for _ in range(2 * limits.sessions_of_address)
        ]
        with socket.create_connection(address, PATIENCE) as further:
            assert ends(further)
        kept.pop().close()
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with suppress(OSError):
                assert served.ask("GET", "/health")[0] == 200
                break
        else:
            pytest.fail("who has left is still counted")


def ends(connection: socket.socket) -> bool:
    """Wait until the other side has ended a connection."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_languages_have_the_same_words() -> None:
    for path in STATIC.glob("words/*.en.json"):
        english = json.loads(path.read_text())
        spanish = json.loads(Path(str(path).replace(".en.", ".es.")).read_text())
        assert english.keys() == spanish.keys()
        for key, text in english.items():
            assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", spanish[key]))


def test_the_browser_s_language_and_the_visitor_s(served: Served) -> None:
    _, _, spanish = served.ask("GET", "/play", **{"Accept-Language": "es-AR,es;q=0.9"})
    assert '<html lang="es"' in spanish
    assert "Jugar" in spanish
    cookie = "language=en; theme=dark"
    _, _, chosen = served.ask("GET", "/play", **{"Accept-Language": "es", "Cookie": cookie})
    assert '<html lang="en" data-theme="dark"' in chosen
    odd = 'language=<script>; theme="><script>alert(1)</script>'
    assert "<script>" not in served.ask("GET", "/play", Cookie=odd)[2]


def test_no_script_shows_a_message_as_the_server_words_it() -> None:
    """All go by the table of words, in which the visitor's language has them."""
    shown = r"(textContent = |alert. }, )(error\.message|message\.text|event\.reason)"
    for path in STATIC.glob("*.js"):
        assert not re.search(shown, path.read_text()), path


def test_script_before_the_first_board_is_little() -> None:
    """What a page of chess loads until its board is drawn."""
    needed = [
        "site.js",
        "play.js",
        "game.js",
        "channel.js",
        "gridboard.js",
        "chessboard.js",
        "vendor/chessground/chessground.min.js",
    ]
    assert sum((STATIC / name).stat().st_size for name in needed) < 150_000
