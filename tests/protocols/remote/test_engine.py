"""An engine that plays elsewhere, with a server that breaks, lies, floods, and comes back."""

import ssl
import threading
import time

import pytest

from protocols.remote import engine as remote
from protocols.remote.gtp import GtpDialogue
from tests.protocols.remote.support import Front, ScriptedServer, serving
from tests.waiting import PATIENCE


def plays(peer):
    """Be an engine that answers each go at once."""
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
    with ScriptedServer(plays) as server, Front(server.port) as front:
        front.say("uci")
        assert front.hear("uciok") == ["id name Far", "uciok"]
        for _ in range(3):
            front.say("position startpos", "go wtime 1000 btime 1000")
            assert front.hear("bestmove")[-1] == "bestmove e2e4"
        assert front.told == []
        assert server.visits == 1


def test_go_is_resent_after_server_disconnects():
    asked = []

    def comes_back(peer):
        peer.greet()
        asked.extend(peer.read_to("go"))
        peer.say("bestmove c2c4")
        hangs(peer)

    with ScriptedServer(breaks_at_go, comes_back) as server, Front(server.port) as front:
        front.say("uci", "setoption name Hash value 8", "position startpos", "go movetime 8000")
        heard = front.hear("bestmove")
        assert heard[-1] == "bestmove c2c4"
        assert any("trying again" in line for line in heard)
        assert any("there again" in line for line in heard)
        assert asked[-2] == "position startpos"
        word, _, left = asked[-1].rpartition(" ")
        assert word == "go movetime"
        assert 6000 < int(left) < 8000
        assert front.engine.status == 0


def test_client_reconnects_when_server_is_back():
    server = ScriptedServer(plays)
    with Front(server.port) as front:
        front.say("uci")
        front.hear("uciok")
        server.kill()
        front.say("position startpos moves e2e4", "go wtime 15000 btime 15000")
        time.sleep(1.0)
        with ScriptedServer(plays, port=server.port):
            assert front.hear("bestmove")[-1] == "bestmove e2e4"


def test_disconnect_while_idle_is_unnoticed():
    def leaves(peer):
        peer.greet()

    with ScriptedServer(leaves, plays) as server, Front(server.port) as front:
        front.say("uci")
        front.hear("uciok")
        deadline = time.monotonic() + 10
        while server.visits < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        front.say("isready", "go depth 1")
        assert "readyok" in front.hear("bestmove e2e4")


def test_best_known_move_is_played_in_time_without_server():
    server = ScriptedServer(breaks_at_go)
    with Front(server.port) as front:
        front.say("uci", "position startpos", "go wtime 1500 btime 1500")
        front.hear("info depth 9")
        server.kill()
        began = time.monotonic()
        heard = front.hear("bestmove")
        assert heard[-1] == "bestmove d2d4"
        assert "no server" in heard[-2]
        assert time.monotonic() - began < 3.0
        front.say("isready", "stop")
        front.hear("readyok")
        front.say("go infinite", "stop")
        front.hear("bestmove")


def test_silent_server_does_not_cause_time_loss():
    with ScriptedServer(hangs) as server, Front(server.port) as front:
        front.say("uci", "position startpos moves e2e4")
        front.hear("uciok")
        front.say("go wtime 500 btime 500")
        began = time.monotonic()
        heard = front.hear("bestmove", 5.0)
        assert 0.4 < time.monotonic() - began < 3.0
        assert "silent" in heard[-2]


@pytest.mark.parametrize("line", ["refused wrong token", "refused too many sessions"])
def test_refusal_by_server_ends_engine_with_reason(line):
    def refuses(peer):
        peer.read()
        peer.say(line)

    with ScriptedServer(refuses) as server, Front(server.port, token="secret") as front:
        front.say("uci")
        assert front.ended.wait(PATIENCE)
        assert front.engine.status == 1
        assert front.engine.finished
        assert line.partition(" ")[2] in front.hear("info string")[-1]
        assert line.partition(" ")[2] in front.told[-1]
        assert not any("secret" in each for each in front.told)
        assert server.visits == 1


def test_session_ended_by_server_is_restarted():
    def ends(peer):
        peer.greet()
        peer.say("refused nothing was asked for an hour")

    with ScriptedServer(ends, plays) as server, Front(server.port) as front:
        front.say("uci")
        assert any("for an hour" in line for line in front.hear("info string the server refuses"))
        front.say("go depth 1")
        front.hear("bestmove")
        assert front.engine.status == 0


def test_refused_reconnect_is_retried_until_timeout():
    def leaves(peer):
        peer.greet()

    def refuses(peer):
        peer._file.readline()
        peer.say("refused too many sessions")

    with ScriptedServer(leaves, refuses) as server, Front(server.port, patience=1.0) as front:
        front.say("uci", "go infinite")
        assert front.ended.wait(PATIENCE)
        assert server.visits > 2
        assert front.engine.status == 1
        assert front.hear("bestmove")


def test_unreachable_server_is_reported_after_timeout():
    with ScriptedServer(plays) as server:
        port = server.port
    with Front(port, patience=0.5) as front:
        front.say("uci")
        assert front.ended.wait(PATIENCE)
        assert "refused" in front.hear("info string no server")[-1]
        assert front.engine.status == 1


def test_silent_server_is_reported_after_timeout():
    def says_nothing(peer):
        while peer._file.readline():
            pass

    with ScriptedServer(says_nothing) as server, Front(server.port, patience=0.5) as front:
        front.say("uci")
        assert front.ended.wait(PATIENCE)
        assert "silent" in front.hear("info string the server is silent")[-1]
        assert front.engine.status == 1


def test_gtp_command_without_server_gets_error():
    def leaves(peer):
        peer.read()
        peer.say("= Far", "")

    server = ScriptedServer(leaves)
    with Front(server.port, GtpDialogue(0.5), patience=0.5) as front:
        front.say("1 name")
        front.hear("= Far")
        server.kill()
        front.say("2 genmove b")
        assert "no server" in front.hear("?2")[-1]
        assert front.engine.status == 0


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("words", [b"x" * (1 << 16), b"\x00\xff\n" * 1000, b"= \n\n" * 1000])
def test_endless_noise_from_server_is_bounded(words):
    """A line without an end cuts the connection; other noise goes no further than a bestmove."""
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

    with ScriptedServer(makes_noise, plays) as server, Front(server.port) as front:
        front.say("uci")
        front.hear("uciok")
        front.say("position startpos", "go wtime 1000 btime 1000")
        answer = front.hear("bestmove")
        assert all(line.isprintable() for line in answer)
        if b"\n" not in words:
            assert sum(sent) < 13_000_000
            assert server.visits == 2


def test_reconnect_attempts_back_off_after_immediate_close(monkeypatch):
    monkeypatch.setattr(remote, "LONGEST_PAUSE", 0.4)
    with ScriptedServer(lambda peer: None) as server, Front(server.port) as front:
        time.sleep(1.5)
        assert 2 <= server.visits <= 12
        assert front.engine.status == 0


def test_token_is_sent_first():
    lines = []

    def asks(peer):
        lines.append(peer.read())
        peer.say("authorized")
        plays(peer)

    with ScriptedServer(asks) as server, Front(server.port, token="abc") as front:
        front.say("uci", "go depth 1")
        front.hear("bestmove")
        assert lines == ["authorize abc"]


def test_engine_works_over_tls(tmp_path):
    context, trust = serving(tmp_path)
    with (
        ScriptedServer(breaks_at_go, plays, tls=context) as server,
        Front(server.port, trust=trust, scheme="tls", token=None) as front,
    ):
        front.say("uci", "position startpos", "go movetime 9000")
        assert front.hear("bestmove")[-1] == "bestmove e2e4"
        line = "position startpos moves " + "g1f3 g8f6 f3g1 f6g8 " * 2000
        front.say(line, "go depth 1")  # more than one record of TLS
        front.hear("bestmove")


@pytest.mark.parametrize("fault", ["strange", "another's"])
def test_untrusted_certificate_ends_engine(tmp_path, fault):
    context, trust = serving(tmp_path, "else.example")
    if fault == "strange":
        trust = ssl.create_default_context()
    with (
        ScriptedServer(plays, tls=context) as server,
        Front(server.port, trust=trust, scheme="tls") as front,
    ):
        front.say("uci")
        assert front.ended.wait(PATIENCE)
        assert front.engine.status == 1
        assert "--ca FILE" in front.told[-1]
        assert server.visits == 0


def test_tls_to_plain_server_fails_after_timeout():
    with (
        ScriptedServer(plays) as server,
        Front(server.port, trust=ssl.create_default_context(), scheme="tls", patience=0.3) as front,
    ):
        front.say("uci")
        threading.Timer(0.5, server.kill).start()
        assert front.ended.wait(PATIENCE)
        assert front.engine.status == 1


def test_drain_waits_only_for_pending_commands():
    with ScriptedServer(hangs) as server, Front(server.port) as front:
        front.say("uci")
        front.hear("uciok")
        assert front.engine.drain(0.0)
        front.say("go infinite")
        assert not front.engine.drain(0.05)
        server.kill()
        assert front.engine.drain(5.0)
        began = time.monotonic()
        front.engine.close(1.0)
        assert time.monotonic() - began < 0.5
