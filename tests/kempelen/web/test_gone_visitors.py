"""The server notices at once that a page is gone, even while it handles the page's messages."""

import asyncio
import inspect
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import ClientDisconnect, Request
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from kempelen.web import channel
from kempelen.web.analyse import page as analysing
from kempelen.web.analyse.game_analysis import AnalysisError
from kempelen.web.pages import run_while_connected
from tests.kempelen.web.support import PATIENCE, Served, serving
from tests.waiting import until

LOOK = json.dumps({"kind": "look", "study": {"game": "chess", "moves": []}, "ply": 0, "look": 1})


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path / "web.sqlite") as server:
        yield server


class SlowParser:
    """Parses games of the analysis page when released."""

    def __init__(self) -> None:
        self.called, self.release = threading.Event(), threading.Event()

    def __call__(self, data: Any, *offers: Any) -> Any:
        self.called.set()
        assert self.release.wait(PATIENCE)
        raise AnalysisError("missing study")


@pytest.fixture
def parser(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowParser]:
    made = SlowParser()
    monkeypatch.setattr(analysing, "parse_game", made)
    monkeypatch.setattr(channel, "CLOSE_TIMEOUT_S", 0.1)
    yield made
    made.release.set()


def busy_page(served: Served, parser: SlowParser, messages: int = 50) -> ClientConnection:
    """Return a page whose first message is being handled."""
    page = connect(f"ws://127.0.0.1:{served.port}/analyse/channel", proxy=None)
    for _ in range(messages):
        page.send(LOOK)
    assert parser.called.wait(PATIENCE)
    return page


def test_session_of_gone_page_ends_while_a_message_is_handled(
    served: Served, parser: SlowParser
) -> None:
    page = busy_page(served, parser)
    assert served.site.admission.sessions == 1
    page.socket.shutdown(socket.SHUT_RDWR)
    assert until(lambda: served.site.admission.sessions == 0, PATIENCE / 2)
    assert not parser.release.is_set()
    page.close()


def test_page_that_sends_far_more_than_is_handled_is_disconnected(
    served: Served, parser: SlowParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "MAX_UNHANDLED_BYTES", 1000)
    page = busy_page(served, parser)
    assert json.loads(page.recv(timeout=PATIENCE)) == {"kind": "welcome"}
    with pytest.raises(ConnectionClosed):
        page.recv(timeout=PATIENCE)
    assert until(lambda: served.site.admission.sessions == 0, PATIENCE / 2)


def test_last_move_before_the_page_closes_is_played(served: Served) -> None:
    game = served.begin(game="tic-tac-toe")
    line = served.watch(game)
    move = line.turn()["board"]["legal"][0]["text"]
    line.send(do="move", move=move, ply=0)
    line.socket.socket.shutdown(socket.SHUT_RDWR)
    line.close()
    again = served.watch(game)
    assert again.turn()["ply"] >= 1
    again.close()


@contextmanager
def posting(served: Served, path: str, body: dict[str, Any]) -> Iterator[None]:
    """Send a request, and disconnect at the end of the block without reading the answer."""
    data = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
    with socket.create_connection(("127.0.0.1", served.port)) as visitor:
        visitor.sendall(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
        yield


def test_search_of_gone_visitor_is_cancelled(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, cancelled = threading.Event(), threading.Event()

    async def analyse(*_: Any, **__: Any) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    monkeypatch.setattr(analysing, "analyse_chess", analyse)
    study = {"game": "chess", "start": None, "moves": []}
    with posting(served, "/analyse/judge", {"study": study, "ply": 0, "move": "e4"}):
        assert started.wait(PATIENCE)
        assert not cancelled.is_set()
    assert cancelled.wait(PATIENCE)


async def test_work_for_a_visitor_who_leaves_during_the_request_is_cancelled() -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    work = asyncio.sleep(PATIENCE)
    with pytest.raises(ClientDisconnect):
        await run_while_connected(Request({"type": "http"}, receive), work)
    assert inspect.getcoroutinestate(work) == inspect.CORO_CLOSED


def test_request_of_gone_visitor_is_not_run(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, read = threading.Event(), []

    def load(text: str, *_: Any) -> list[Any]:
        read.append(text)
        assert release.wait(PATIENCE)
        return []

    def requests() -> int:
        return sum(served.site.visitor_locks._pending.values())

    monkeypatch.setattr(analysing, "load_games", load)
    with ThreadPoolExecutor() as pool:
        asked = [pool.submit(served.ask, "POST", "/analyse/load", {"text": "first"})]
        assert until(lambda: read)
        with posting(served, "/analyse/load", {"text": "gone"}):
            assert until(lambda: requests() == 2)
        asked.append(pool.submit(served.ask, "POST", "/analyse/load", {"text": "last"}))
        assert until(lambda: requests() == 3)
        release.set()
        assert [each.result(PATIENCE)[0] for each in asked] == [200, 200]
    assert read == ["first", "last"]
