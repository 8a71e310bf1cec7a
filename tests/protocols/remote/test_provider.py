"""The provider for lichess's analysis board, at a strict server."""

import contextlib
import queue
import ssl
import threading
import time

import pytest

from agent.games.variants import VARIANTS
from kempelen.engines import create_uci_engine
from kempelen.server_sessions import NetworkOutput
from protocols.remote import lichess
from protocols.remote import provider as providing
from protocols.remote.lichess import (
    AnalysisRequest,
    LichessClient,
    LichessError,
    LichessUnavailableError,
)
from protocols.remote.provider import EngineRegistration, LichessProvider
from tests.protocols.remote.lichess_server import TOKEN, LichessServer
from tests.protocols.remote.support import serving
from tests.waiting import PATIENCE, until

OFFER = EngineRegistration("Kempelen here", threads=2, megabytes=32, depth=4)


class Providing:
    """A provider running in a thread."""

    def __init__(self, server, token=TOKEN, trust=None):
        self.reports = []
        self.error = None
        self.client = LichessClient(server.url, server.url, token, trust)
        self.provider = LichessProvider(
            self.client,
            OFFER,
            lambda send: create_uci_engine(NetworkOutput(send)),
            self.reports.append,
        )
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.provider.stop()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        assert self.provider.close(PATIENCE)
        assert not any(TOKEN in report for report in self.reports)

    def end(self):
        self._thread.join(PATIENCE)
        return self.error

    def _run(self):
        try:
            self.provider.run()
        except LichessError as error:
            self.error = str(error)


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    monkeypatch.setattr(providing, "MIN_RETRY_DELAY_S", 0.05)


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A busy machine must not reach the limits for the engine and the server."""
    monkeypatch.setattr(providing, "STOP_TIMEOUT_S", PATIENCE)
    monkeypatch.setattr(lichess, "TIMEOUT_S", PATIENCE)


def lines(answer):
    assert answer.ended.wait(PATIENCE)
    found = []
    while not answer.lines.empty():
        found.append(answer.lines.get())
    return found


def test_work_is_answered_line_by_line():
    with LichessServer() as server, Providing(server):
        answer = server.ask("work1", depth=3, moves=["e2e4"], multiPv=2)
        found = lines(answer)
        assert answer.whole
        assert found[-1].startswith("bestmove ")
        assert any(" depth 3 " in line and " multipv 2 " in line for line in found)
        (engine,) = server.engines.values()
        assert engine["name"] == "Kempelen here"
        assert engine["maxThreads"] == 2
        assert engine["variants"] == list(VARIANTS)
        assert engine["clientSecret"] == "ees_1"
        # Without a limit it searches to the registered depth; castling is as in Chess960.
        fen = "4k3/pppppppp/8/8/8/8/PPPPPPPP/R3K3 w Q - 0 1"
        found = lines(server.ask("work2", initialFen=fen, moves=["e1a1"], sessionId="2"))
        assert any(" depth 4 " in line for line in found)
        assert lines(server.ask("work3", nodes=500))[-1].startswith("bestmove ")
        assert lines(server.ask("work4", movetime=100))[-1].startswith("bestmove ")


def test_registered_engine_is_updated_not_duplicated():
    with LichessServer() as server:
        for _ in range(2):
            with Providing(server):
                lines(server.ask("work", depth=1))
        assert [command for command, _ in server.requests] == ["GET", "POST", "GET", "PUT"]
        assert len(server.engines) == 1


def test_cancelled_work_is_stopped():
    with LichessServer() as server, Providing(server):
        answer = server.ask("endless", infinite=True)
        answer.lines.get(timeout=PATIENCE)
        answer.hang_up.set()
        assert answer.ended.wait(PATIENCE)
        assert lines(server.ask("next", depth=2))[-1].startswith("bestmove ")


def test_work_is_answered_over_tls(tmp_path):
    """TLS messages of the server, such as tickets, are not taken for an early answer."""
    tls, trust = serving(tmp_path)
    with LichessServer(tls=tls) as server, Providing(server, trust=trust):
        answer = server.ask("work", depth=3)
        assert lines(answer)[-1].startswith("bestmove ")
        assert answer.whole
        answer = server.ask("endless", infinite=True)
        answer.lines.get(timeout=PATIENCE)
        time.sleep(0.3)
        assert not answer.ended.is_set()
        answer.hang_up.set()
        assert lines(server.ask("next", depth=1))[-1].startswith("bestmove ")


def test_untrusted_certificate_is_reported(tmp_path):
    tls, _ = serving(tmp_path)
    trust = ssl.create_default_context()
    with LichessServer(tls=tls) as server, Providing(server, trust=trust) as running:
        assert "--ca FILE" in running.end()
        assert server.requests == []


def test_cancelled_search_without_output_is_stopped():
    """After a mate the search prints no lines for long; cancelling must not wait for one."""
    with LichessServer() as server, Providing(server):
        answer = server.ask("endless", infinite=True, initialFen="7k/8/5KQ1/8/8/8/8/8 w - - 0 1")
        answer.lines.get(timeout=PATIENCE)
        with contextlib.suppress(queue.Empty):
            while True:
                answer.lines.get(timeout=0.3)
        answer.hang_up.set()
        assert lines(server.ask("next", depth=1))[-1].startswith("bestmove ")


def test_new_work_stops_current_work():
    with LichessServer() as server, Providing(server):
        first = server.ask("endless", infinite=True)
        first.lines.get(timeout=PATIENCE)
        assert lines(server.ask("next", depth=2))[-1].startswith("bestmove ")
        assert first.ended.is_set()
        assert not first.whole


@pytest.mark.parametrize(
    ("path", "faults"),
    [
        ("/api/external-engine", [502, None, 500]),
        ("/api/external-engine/work", [503, None, 500, 408]),
    ],
)
def test_unavailable_server_is_retried(path, faults):
    with LichessServer() as server:
        server.faults[path] = list(faults)
        with Providing(server) as running:
            assert lines(server.ask("work", depth=1))[-1].startswith("bestmove ")
            assert any("retrying" in report for report in running.reports)
            assert "reconnected" in running.reports


@pytest.mark.parametrize("fault", [404, 500, None])
def test_rejected_answer_does_not_stop_provider(fault):
    with LichessServer() as server, Providing(server) as running:
        server.faults["/submit"] = [fault]
        server.ask("lost", infinite=True)
        assert until(lambda: not server.faults["/submit"])  # the fault is not for the next one
        answer = server.ask("next", depth=1)
        assert lines(answer)[-1].startswith("bestmove ")
        assert running.error is None


def test_provider_survives_server_restart():
    server = LichessServer()
    with Providing(server) as running:
        server.ask("endless", infinite=True).lines.get(timeout=PATIENCE)
        server.stop()
        assert until(lambda: any("retrying" in report for report in running.reports))
        with LichessServer(server.port, secret=server.secret) as again:
            assert lines(again.ask("work", depth=1))[-1].startswith("bestmove ")
        assert running.error is None


@pytest.mark.parametrize(
    ("status", "message"), [(401, "engine:read"), (403, "scopes"), (404, "404")]
)
def test_permanent_http_error_stops_provider(status, message):
    with LichessServer() as server:
        server.faults["/api/external-engine"] = [status]
        with Providing(server) as running:
            assert message in running.end()


def test_token_repeated_by_server_is_not_shown():
    with LichessServer() as server, Providing(server, token="lip_wrongwrong") as running:
        assert "401" in running.end()
        assert "lip_wrongwrong" not in running.error


WORK = {
    "sessionId": "1", "threads": 1, "hash": 16, "multiPv": 1, "variant": "chess",
    "initialFen": "8/8/8/8/8/4k3/4p3/4K3 w - - 0 1", "moves": ["e1e2"],
}  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"threads": 0}, {"threads": True}, {"hash": "16"}, {"multiPv": 6}, {"variant": "losers"},
        {"variant": None}, {"initialFen": "8\ngo infinite"}, {"initialFen": 1},
        {"moves": ["e1e2\nquit"]}, {"moves": ["e1e2"] * 601}, {"moves": "e1e2"}, {"depth": 0},
        {"movetime": -1}, {"nodes": 1.5},
    ],
)  # fmt: skip
def test_invalid_work_is_rejected(change):
    assert AnalysisRequest.from_json({"id": "x", "work": WORK}).moves == ("e1e2",)
    with pytest.raises(ValueError, match=r"."):
        AnalysisRequest.from_json({"id": "x", "work": WORK | change})
    for answer in ([], {"id": "x"}, {"id": "../y", "work": WORK}, {"id": "x", "work": {}}):
        with pytest.raises(ValueError, match=r"."):
            AnalysisRequest.from_json(answer)


def test_work_in_variant_of_kernel_is_accepted():
    for variant in VARIANTS:
        work = AnalysisRequest.from_json({"id": "x", "work": WORK | {"variant": variant}})
        assert work.variant == variant
    drops = {"variant": "crazyhouse", "moves": ["N@f3"]}
    assert AnalysisRequest.from_json({"id": "x", "work": WORK | drops}).moves == ("N@f3",)


def test_invalid_work_is_skipped():
    with LichessServer() as server, Providing(server) as running:
        server.ask("bad", variant="losers")
        assert lines(server.ask("good", depth=1))[-1].startswith("bestmove ")
        assert any("losers" in report for report in running.reports)


class _FailingUpload:
    """An upload that fails at the last line."""

    def closed_by_server(self):
        return False

    def send(self, line):
        if line.startswith("bestmove"):
            raise LichessUnavailableError("cut")


def test_engine_works_after_upload_fails_at_bestmove():
    engine = providing.ProviderEngine(lambda send: create_uci_engine(NetworkOutput(send)), OFFER)
    work = AnalysisRequest.from_json({"id": "x", "work": WORK})
    for _ in range(2):
        worker = threading.Thread(
            target=engine.answer, args=(work, _FailingUpload(), threading.Event())
        )
        worker.start()
        worker.join(PATIENCE)
        assert not worker.is_alive()
    assert engine.close(PATIENCE)
