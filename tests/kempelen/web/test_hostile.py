"""No input of a visitor causes an internal server error."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from kempelen.lab import step_pages
from kempelen.web.site_context import SiteResources
from protocols.server.limits import ServerLimits
from tests.kempelen.web.support import PATIENCE, Served, serving

# Invalid and huge values, unpaired surrogates, and JSON that only Python accepts.
ODD: list[Any] = [
    None, True, -1, 2**70, 10**400, 1.5, float("nan"), float("inf"), "", "\ud800", "x" * 300,
    "\x00", "9" * 5000, [], {}, [[]], ["\ud800"], {"a": 1}, "C3",
]  # fmt: skip
CHESS = {"game": "chess", "start": None, "moves": ["e2e4"]}
QUERY = {"boardXSize": 5, "boardYSize": 5, "komi": 0.5, "rules": "chinese", "moves": [["B", "C3"]]}
GO = {"game": "go", "query": QUERY}
FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"
TEXTS = [
    *(f'[FEN "{fen}"]\n\n1. e4 *' for fen in ("x", "\ud800", f"{FEN} 0 {'9' * 5000}")),
    *(f"{FEN} {end}" for end in ("0 " + "9" * 5000, "9" * 5000 + " 1", "0 " + "9" * 90)),
    *(f"(;GM[1]SZ[{size}];B[aa])" for size in ("9" * 5000, "-1", "5:9", "\ud800", "x", "")),
    *(f"(;GM[1]SZ[5]KM[{komi}];B[aa])" for komi in ("9" * 5000, "nan", "inf", "x")),
    *(
        rf"(;SZ[5]CA[{charset}]PB[\\ud800+2AA-]RE[\\ud800];B[aa]C[\\ud800+2AA-])"
        for charset in ("utf-16", "utf-7", "unicode_escape", "rot13", "idna", "none")
    ),
    "(;GM[1]SZ[5]AB[aa:ee];W[aa])", "(;GM[2];B[aa])", "1. e4 " + "(" * 5000,
    f"1. e4 ${'9' * 5000} *", f"{'9' * 5000}. e4 *", f"1. e4 {{[%clk {'9' * 5000}:1:1]}} *",
    '[Variant "\ud800"]\n\n1. e4', '[SetUp "1"]\n[FEN ""]\n\n1. e4', '[Result "\x00"]\n\n1. e4',
]  # fmt: skip


def changed(base: dict[str, Any], *keys: str) -> Iterator[dict[str, Any]]:
    for key in keys:
        for value in ODD:
            yield {**base, key: value}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    offers = SiteResources(choices=step_pages.choices, steps=step_pages.render_page)
    limits = ServerLimits(request_rate=10_000.0)
    path: Path = tmp_path_factory.mktemp("hostile") / "web.sqlite"
    with serving(path, limits=limits, offers=offers) as server:
        yield server
        assert [line for line in server.log if " failed " in line] == []


def post(served: Served, path: str, bodies: Iterator[Any] | list[Any]) -> None:
    for body in bodies:
        status, _, text = served.ask("POST", path, body)
        assert status < 500, (body, text)
        if path != "/lessons/steps" or status >= 400:
            json.loads(text)


@pytest.mark.thorough
def test_malformed_game_forms_cause_no_server_error(served: Served) -> None:
    fields = ("options", "side", "opponent", "level", "seconds", "base", "fen", "chess960")
    post(served, "/games", changed({"game": "chess"}, "game", *fields))
    post(served, "/games", changed({"game": "go"}, "options", "handicap", "rules"))
    for option in ("size", "komi", "width", "\ud800"):
        post(served, "/games", [{"game": "go", "options": {option: value}} for value in ODD])
    assert served.ask("GET", "/games")[0] == 200


@pytest.mark.thorough
def test_malformed_studies_cause_no_server_error(served: Served) -> None:
    for study in (CHESS, GO):
        base = {"study": study, "ply": 1, "move": "e5"}
        post(served, "/analyse/move", changed(base, "study", "ply", "move"))
    studies = [*changed(CHESS, "game", "start", "moves"), *changed(GO, "query")]
    studies += [{"game": "go", "query": query} for query in changed(QUERY, *QUERY, "initialStones")]
    studies += [{**CHESS, "moves": [value]} for value in ODD]
    studies += [{"game": "go", "query": {**QUERY, "moves": [["B", value]]}} for value in ODD]
    post(served, "/analyse/move", [{"study": each, "ply": 1, "move": "D4"} for each in studies])


def test_malformed_files_cause_no_server_error(served: Served) -> None:
    post(served, "/analyse/load", [{"text": text} for text in [*TEXTS, *ODD]])


@pytest.mark.parametrize(
    "path", ["/games", "/analyse/load", "/analyse/move", "/signin", "/signout", "/lessons/steps"]
)
def test_malformed_bodies_cause_no_server_error(served: Served, path: str) -> None:
    odd = [b"", b"[]", b"1", b"NaN", b"\xff", b"[" * 100_000, b"a=1&" * 20, b"&" * 100, b"%ff=%00"]
    post(served, path, [*odd, b'{"token": "\\ud800"}'])


def test_malformed_paths_and_headers_cause_no_server_error(served: Served) -> None:
    game = served.begin(game="nim")
    for path in (
        "/games/%00/record", f"/games/{'x' * 5000}/record", "/games/%ff/at/1", "/play/%ff",
        f"/games/{game}/at/999999999", "/static/%00", f"/static/{'a' * 5000}", "/static/words",
        f"/static/{'a/' * 3000}", "/lessons/%00.html", "/watch/0", "/watch/0/games", "//", "*",
    ):  # fmt: skip
        for method in ("GET", "HEAD", "PUT", "OPTIONS", "POST", "TRACE", "NONE"):
            assert served.ask(method, path)[0] < 500, (method, path)
    for name, value in (
        ("Cookie", "a" * 8000), ("Cookie", "kempelen_visitor=\xff; language=\xff"),
        ("Accept-Language", "," * 8000), ("Accept-Language", "es;q=x"), ("Host", ""),
        ("If-Modified-Since", f"Mon, {'9' * 5000} Jan 2020 00:00:00 GMT"), ("Host", "["),
        ("Range", "bytes=" + "0-1," * 1500), ("Range", "bytes=-" + "9" * 5000), ("Range", "x"),
        ("Authorization", "Bearer " + "x" * 8000), ("Origin", "\xff"), ("Host", "127.0.0.1:x"),
    ):  # fmt: skip
        for path in ("/static/site.js", "/play", "/games", "/metrics"):
            assert served.ask("GET", path, **{name: value})[0] < 500, (name, value)


def test_malformed_channel_messages_cause_no_server_error(served: Served) -> None:
    game = f"/games/{served.begin(game='tic-tac-toe')}/channel"
    messages: list[Any] = [None, "x", float("nan"), [], {}]
    messages += changed({"do": "move", "move": "b2", "ply": 0}, "do", "move", "ply")
    asked = [{"do": each} for each in ("back", "again", "draw", "x")]
    looks = {"kind": "look", "study": CHESS, "ply": 0, "look": 1}
    searches = [*changed(looks, "kind", "study", "ply", "look")]
    searches += changed({"kind": "review", "study": GO, "nodes": 1}, "study", "nodes")
    for path, sent in (
        (game, [*messages, *asked, {"do": []}]),
        ("/analyse/channel", [*messages, *searches, {"kind": []}]),
    ):
        address = f"ws://127.0.0.1:{served.port}{path}"
        with connect(address, proxy=None, open_timeout=PATIENCE, max_size=None) as socket:
            for message in sent:
                socket.send(json.dumps(message))
            socket.send("[]")  # its answer comes after all others
            for _ in range(sum(not isinstance(each, dict) for each in sent) + 1):
                while "expected a JSON object" not in str(socket.recv(timeout=PATIENCE)):
                    pass
