"""A remote engine whose server disconnects, lies, floods, and comes back."""

import ssl
import threading
import time

import pytest

from protocols.remote import engine as remote
from protocols.remote import transport
from protocols.remote.gtp import GtpProxy
from protocols.remote.line_channel import LineChannel
from protocols.remote.transport import ServerConnectionError
from protocols.server.addresses import Address
from tests.protocols.remote.support import Front, ScriptedServer, serving
from tests.waiting import PATIENCE, until


def plays(peer):
    """Act as an engine that answers each go at once."""
    peer.greet()
    while peer.read_to("go")[-1:]:
        peer.say("info depth 1 score cp 1 nodes 1 time 1 pv e2e4", "bestmove e2e4")


def breaks_at_go(peer):
    peer.greet()
    peer.read_to("go")
    peer.say("info depth 9 multipv 1 score cp 1 pv d2d4 d7d5")


def hangs(peer):
    peer.greet()
    while peer.read() is not None:
        pass


def test_lines_are_forwarded_in_both_directions():
    with ScriptedServer(plays) as server, Front(server.port) as frontend:
        frontend.say("uci")
        assert frontend.hear("uciok") == ["id name Far", "uciok"]
        for _ in range(3):
            frontend.say("position startpos", "go wtime 1000 btime 1000")
            assert frontend.hear("bestmove")[-1] == "bestmove e2e4"
        assert frontend.reports == []
        assert server.visits == 1


def test_go_is_resent_after_server_disconnects():
    received = []

    def comes_back(peer):
        peer.greet()
        received.extend(peer.read_to("go"))
        peer.say("bestmove c2c4")
        hangs(peer)

    with ScriptedServer(breaks_at_go, comes_back) as server, Front(server.port) as frontend:
        frontend.say("uci", "setoption name Hash value 8", "position startpos", "go movetime 8000")
        heard = frontend.hear("bestmove")
        assert heard[-1] == "bestmove c2c4"
        assert any("reconnecting" in line for line in heard)
        assert any("reconnected" in line for line in heard)
        assert received[-2] == "position startpos"
        word, _, remaining = received[-1].rpartition(" ")
        assert word == "go movetime"
        assert 6000 < int(remaining) < 8000
        assert frontend.engine.exit_status == 0


def test_client_reconnects_when_server_is_back():
    server = ScriptedServer(plays)
    with Front(server.port) as frontend:
        frontend.say("uci")
        frontend.hear("uciok")
        server.kill()
        frontend.say("position startpos moves e2e4", "go wtime 15000 btime 15000")
        time.sleep(1.0)
        with ScriptedServer(plays, port=server.port):
            assert frontend.hear("bestmove")[-1] == "bestmove e2e4"


def test_disconnect_while_idle_is_unnoticed():
    def leaves(peer):
        peer.greet()

    with ScriptedServer(leaves, plays) as server, Front(server.port) as frontend:
        frontend.say("uci")
        frontend.hear("uciok")
        assert until(lambda: server.visits >= 2)
        frontend.say("isready", "go depth 1")
        assert "readyok" in frontend.hear("bestmove e2e4")


def test_best_known_move_is_played_in_time_without_server():
    server = ScriptedServer(breaks_at_go)
    with Front(server.port) as frontend:
        frontend.say("uci", "position startpos", "go wtime 1500 btime 1500")
        frontend.hear("info depth 9")
        server.kill()
        began = time.monotonic()
        heard = frontend.hear("bestmove")
        assert heard[-1] == "bestmove d2d4"
        assert "no connection" in heard[-2]
        assert time.monotonic() - began < 3.0
        frontend.say("isready", "stop")
        frontend.hear("readyok")
        frontend.say("go infinite", "stop")
        frontend.hear("bestmove")


def test_silent_server_does_not_cause_time_loss():
    with ScriptedServer(hangs) as server, Front(server.port) as frontend:
        frontend.say("uci", "position startpos moves e2e4")
        frontend.hear("uciok")
        frontend.say("go wtime 500 btime 500")
        began = time.monotonic()
        heard = frontend.hear("bestmove", 5.0)
        assert 0.4 < time.monotonic() - began < 3.0
        assert "no answer from the server" in heard[-2]


@pytest.mark.parametrize("line", ["refused wrong token", "refused too many sessions"])
def test_refusal_by_server_ends_engine_with_reason(line):
    def refuses(peer):
        peer.read()
        peer.say(line)

    with ScriptedServer(refuses) as server, Front(server.port, token="secret") as frontend:
        frontend.say("uci")
        assert frontend.ended.wait(PATIENCE)
        assert frontend.engine.exit_status == 1
        assert frontend.engine.finished
        assert line.partition(" ")[2] in frontend.hear("info string")[-1]
        assert line.partition(" ")[2] in frontend.reports[-1]
        assert not any("secret" in report for report in frontend.reports)
        assert server.visits == 1


def test_session_ended_by_server_is_restarted():
    def ends(peer):
        peer.greet()
        peer.say("refused session idle for an hour")

    with ScriptedServer(ends, plays) as server, Front(server.port) as frontend:
        frontend.say("uci")
        assert any(
            "for an hour" in line for line in frontend.hear("info string rejected by the server")
        )
        frontend.say("go depth 1")
        frontend.hear("bestmove")
        assert frontend.engine.exit_status == 0


def test_refused_reconnect_is_retried_until_timeout():
    def leaves(peer):
        peer.greet()

    def refuses(peer):
        peer._file.readline()
        peer.say("refused too many sessions")

    with ScriptedServer(leaves, refuses) as server, Front(server.port, timeout=1.0) as frontend:
        frontend.say("uci", "go infinite")
        assert frontend.ended.wait(PATIENCE)
        assert server.visits > 2
        assert frontend.engine.exit_status == 1
        assert frontend.hear("bestmove")


def test_unreachable_server_is_reported_after_timeout():
    with ScriptedServer(plays) as server:
        port = server.port
    with Front(port, timeout=0.5) as frontend:
        frontend.say("uci")
        assert frontend.ended.wait(PATIENCE)
        assert "refused" in frontend.hear("info string no connection")[-1]
        assert frontend.engine.exit_status == 1


def test_silent_server_is_reported_after_timeout():
    def says_nothing(peer):
        while peer._file.readline():
            pass

    with ScriptedServer(says_nothing) as server, Front(server.port, timeout=0.5) as frontend:
        frontend.say("uci")
        assert frontend.ended.wait(PATIENCE)
        frontend.hear("info string no answer from the server")
        assert frontend.engine.exit_status == 1


def test_gtp_command_without_server_gets_error():
    def leaves(peer):
        peer.read()
        peer.say("= Far", "")

    server = ScriptedServer(leaves)
    with Front(server.port, GtpProxy(0.5), timeout=0.5) as frontend:
        frontend.say("1 name")
        frontend.hear("= Far")
        server.kill()
        frontend.say("2 genmove b")
        assert "no connection" in frontend.hear("?2")[-1]
        assert frontend.engine.exit_status == 0


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("words", [b"x" * (1 << 16), b"\x00\xff\n" * 1000, b"= \n\n" * 1000])
def test_endless_noise_from_server_is_bounded(words):
    """A line that is too long ends the connection; other noise is harmless."""
    sent = []

    def makes_noise(peer):
        peer.greet()
        try:
            for _ in range(200):
                peer._stream.sendall(words)
                sent.append(len(words))
        except OSError:
            return
        hangs(peer)

    with ScriptedServer(makes_noise, plays) as server, Front(server.port) as frontend:
        frontend.say("uci")
        frontend.hear("uciok")
        frontend.say("position startpos", "go wtime 1000 btime 1000")
        answer = frontend.hear("bestmove")
        assert all(line.isprintable() for line in answer)
        if b"\n" not in words:
            assert sum(sent) < 13_000_000
            assert server.visits == 2


def test_reconnect_attempts_back_off_after_immediate_close(monkeypatch):
    monkeypatch.setattr(remote, "MAX_RETRY_DELAY_S", 0.4)
    with ScriptedServer(lambda peer: None) as server, Front(server.port) as frontend:
        time.sleep(1.5)
        assert 2 <= server.visits <= 12
        assert frontend.engine.exit_status == 0


def test_token_is_sent_first():
    lines = []

    def asks(peer):
        lines.append(peer.read())
        peer.say("authorized")
        plays(peer)

    with ScriptedServer(asks) as server, Front(server.port, token="abc") as frontend:
        frontend.say("uci", "go depth 1")
        frontend.hear("bestmove")
        assert lines == ["authorize abc"]


def test_silent_handshake_times_out(monkeypatch):
    """The timeout of a connection attempt may equal that of a later `send`."""
    monkeypatch.setattr(transport, "SEND_TIMEOUT_S", 0.3)
    with ScriptedServer(hangs) as server, pytest.raises(TimeoutError):
        LineChannel(Address("tcp", "127.0.0.1", server.port), "uci", None, "abc", 0.3)


@pytest.mark.parametrize("scheme", ["tcp", "tls", "ws"])
def test_handshake_sent_byte_by_byte_times_out(scheme):
    """The timeout is that of the whole handshake, not that of the next byte."""
    ended = threading.Event()

    def drips(peer):
        while not ended.is_set():
            peer._stream.sendall(b"\x16" if scheme == "tls" else b"x")
            time.sleep(0.02)

    trust = ssl.create_default_context() if scheme == "tls" else None
    token = "abc" if scheme == "tcp" else None
    began = time.monotonic()
    with ScriptedServer(drips) as server:
        try:
            with pytest.raises((TimeoutError, ssl.SSLError, ServerConnectionError)):
                LineChannel(Address(scheme, "127.0.0.1", server.port), "uci", trust, token, 0.5)
            assert time.monotonic() - began < PATIENCE
        finally:
            ended.set()


def test_engine_works_over_tls(tmp_path):
    context, trust = serving(tmp_path)
    with (
        ScriptedServer(breaks_at_go, plays, tls=context) as server,
        Front(server.port, trust=trust, scheme="tls", token=None) as frontend,
    ):
        frontend.say("uci", "position startpos", "go movetime 9000")
        assert frontend.hear("bestmove")[-1] == "bestmove e2e4"
        line = "position startpos moves " + "g1f3 g8f6 f3g1 f6g8 " * 2000
        frontend.say(line, "go depth 1")  # larger than one TLS record
        frontend.hear("bestmove")


@pytest.mark.parametrize("fault", ["strange", "another's"])
def test_untrusted_certificate_ends_engine(tmp_path, fault):
    context, trust = serving(tmp_path, "else.example")
    if fault == "strange":
        trust = ssl.create_default_context()
    with (
        ScriptedServer(plays, tls=context) as server,
        Front(server.port, trust=trust, scheme="tls") as frontend,
    ):
        frontend.say("uci")
        assert frontend.ended.wait(PATIENCE)
        assert frontend.engine.exit_status == 1
        assert "--ca FILE" in frontend.reports[-1]
        assert server.visits == 0


def test_tls_to_plain_server_fails_after_timeout():
    with (
        ScriptedServer(plays) as server,
        Front(
            server.port, trust=ssl.create_default_context(), scheme="tls", timeout=0.3
        ) as frontend,
    ):
        frontend.say("uci")
        threading.Timer(0.5, server.kill).start()
        assert frontend.ended.wait(PATIENCE)
        assert frontend.engine.exit_status == 1


def test_each_pending_search_has_its_own_time_after_end_of_input(monkeypatch):
    monkeypatch.setattr(remote, "FINAL_REPLIES_TIMEOUT_S", 1.5)

    def answers(peer):
        peer.greet()
        while peer.read_to("go")[-1:]:
            time.sleep(0.5)
            peer.say("bestmove e2e4")

    with ScriptedServer(answers) as server, Front(server.port) as frontend:
        frontend.say("uci", "position startpos", *["go depth 9"] * 4)
        while not frontend.engine.drain(0.05):
            pass
        frontend.engine.close(1.0)
        answered = [frontend.hear("bestmove")[-1] for _ in range(4)]
        assert answered == ["bestmove e2e4"] * 4


def test_drain_waits_only_for_pending_commands():
    with ScriptedServer(hangs) as server, Front(server.port) as frontend:
        frontend.say("uci")
        frontend.hear("uciok")
        assert frontend.engine.drain(0.0)
        frontend.say("go infinite")
        assert not frontend.engine.drain(0.05)
        server.kill()
        assert frontend.engine.drain(5.0)
        began = time.monotonic()
        frontend.engine.close(1.0)
        assert time.monotonic() - began < 0.5
