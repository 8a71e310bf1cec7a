"""`kempelen` without a command: protocol detection, errors and the greeting."""

import os
import subprocess
import sys
import time

import pytest

from kempelen.protocol_detector import ProtocolDetector
from tests.waiting import PATIENCE


class RecordingSession:
    """A session that records its output."""

    def __init__(self):
        self.sent = []

    def send(self, line):
        self.sent.append(line)

    def log_to(self, path):
        pass


@pytest.fixture
def wire():
    return RecordingSession()


@pytest.fixture
def talk(wire):
    """Send lines to a session, with or without a terminal; return all replies."""

    def talk(*lines, terminal=False):
        protocol = ProtocolDetector(wire, terminal)
        try:
            replies = [reply for line in lines for reply in protocol.handle_line(line)]
            assert protocol.drain(PATIENCE)
            talk.finished = protocol.finished
            return replies
        finally:
            assert protocol.close(PATIENCE)

    return talk


@pytest.mark.parametrize(
    "lines",
    [("xboard", "hello"), ("hello",), ("e2e4",), ("new",), ("hello", "is anybody there")],
)
def test_unknown_line_is_reported_once_on_stderr_only(talk, wire, capsys, lines):
    assert talk(*lines) == []
    assert wire.sent == []
    output = capsys.readouterr().err.splitlines()
    assert len(output) == 1
    assert repr(lines[lines[0] == "xboard"]) in output[0]
    assert "UCI" in output[0]
    assert "xboard" in output[0]
    assert not talk.finished


@pytest.mark.parametrize(
    "lines",
    [
        ("protover 2",),
        ("xboard", "protover 2"),
        ("xboard", "new", "protover 2"),
        ("xboard", "", "e2e4", "protover 2"),
        ("hello", "xboard", "force", "protover 2"),
    ],
)
def test_protover_selects_the_xboard_protocol(talk, wire, capsys, lines):
    assert talk(*lines) == []
    said = [line for line in wire.sent if line.startswith("feature")]
    assert said[0] == "feature done=0"
    assert said[1].startswith("feature ping=1")
    assert said[-1] == "feature done=1"
    assert len(capsys.readouterr().err.splitlines()) == (lines[0] == "hello")


@pytest.mark.parametrize("shared", ["go", "quit", "name", "undo", "help"])
def test_shared_command_after_xboard_stays_in_xboard(talk, wire, shared):
    replies = talk("xboard", "protover 2", shared)
    assert not any(line.startswith(("id name", "= ", "bestmove")) for line in replies + wire.sent)


def test_xboard_line_alone_produces_no_output(talk, wire, capsys):
    assert talk("xboard") == talk("xboard", terminal=True) == []
    assert capsys.readouterr().err == ""
    assert not talk.finished


@pytest.mark.parametrize("first", [(), ("",), ("xboard",)])
def test_uci_line_selects_uci_without_errors(talk, capsys, first):
    replies = talk(*first, "uci")
    assert replies[0].startswith("id name ")
    assert replies[-1] == "uciok"
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("line", ["uci", "joho debug on", "name"])
def test_protocol_can_be_selected_after_an_unknown_line(talk, wire, line, capsys):
    replies = talk("hello", line, "uci" if line != "name" else "version")
    assert "uciok" in replies or any(answer.startswith("= ") for answer in wire.sent)
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_unknown_line_is_escaped_and_shortened(talk, capsys):
    talk("\x1b[31m" + "x" * 10_000)
    output = capsys.readouterr().err
    assert len(output) < 500
    assert "\x1b" not in output


def test_terminal_user_gets_a_greeting_help_and_errors(talk, wire, capsys):
    replies = talk("help", "hello", "good morning", "quit", terminal=True)
    greeting = " ".join(wire.sent)
    for word in ("Kempelen", "help", "--help", "quit"):
        assert word in greeting
    assert [line.split()[0] for line in replies] == ["uci", "xboard", "list_commands", "quit"]
    output = capsys.readouterr().err.splitlines()
    assert ["'hello'" in output[0], "'good morning'" in output[1], len(output)] == [True, True, 2]
    assert talk.finished


def test_no_greeting_is_sent_without_a_terminal(talk, wire):
    talk("quit")
    assert wire.sent == []


@pytest.mark.skipif(os.name != "posix", reason="there are no such terminals there")
def test_terminal_process_greets_and_quits():
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "kempelen.cli"], stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    try:
        output, deadline = b"", time.monotonic() + 60
        while b"--help" not in output and time.monotonic() < deadline:
            output += os.read(ours, 1 << 16)
        os.write(ours, b"quit\n")
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
