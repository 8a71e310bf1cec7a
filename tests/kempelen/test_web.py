"""`kempelen web`: its settings, and how it starts and stops."""

import json
import os
import re
import signal
import sqlite3
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from agent.io import requirements
from tests import in_process
from tests.protocols.server.credentials import Certified, Tokens, certified, tokens  # noqa: F401
from tests.support import ROOT
from tests.waiting import PATIENCE


def refused(*arguments: object) -> str:
    """Return the error of a command that does not start."""
    ended = in_process.run("web", "--no-browser", *arguments)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert "Traceback" not in ended.stderr
    return ended.stderr


def test_public_address_requires_tls_and_tokens(
    tokens: Tokens,  # noqa: F811
    certified: Certified,  # noqa: F811
) -> None:
    said = refused("--address", "0.0.0.0:0")
    assert "reachable from other machines, which requires TLS" in said
    assert "tokens (--tokens FILE)" in said
    assert "TLS" in refused("--address", "0.0.0.0:0", "--tokens", tokens.path)
    secure = ("--certificate", certified.certificate, "--key", certified.key)
    assert "requires tokens" in refused("--address", "0.0.0.0:0", *secure)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--address", "nonsense"), "invalid address (expected "),
        (("--address", "tcp://127.0.0.1:1"), "expected HOST:PORT"),
        (("--certificate", "missing.pem"), "--certificate requires --key FILE"),
        (("--tokens", "missing"), "tokens: missing: "),
        (("--game", "nothing.py:Class"), "--game: "),
        (("--engine", "Fish"), "--engine Fish: invalid value"),
        (("--engine", "Fish=stockfish"), "expected NAME=PROTOCOL COMMAND"),
        (("--engine", "Fish=uci nosuchprogram"), "--engine Fish: engine command 'nosuchprogram'"),
        (("--evaluation", "bad=nosuch.py:f"), "--evaluation bad: "),
        (("--evaluation", "bad=nnue:nosuch.bin"), "--evaluation bad: "),
        (("--games", "new/g.sqlite"), "--games new/g.sqlite: folder new does not exist"),
        (("--evaluation", "=x"), "--evaluation =x: invalid value"),
        (("--games", "/dev/null/g.sqlite"), "use --games FILE for another file"),
        (("--lessons", "nowhere"), "--lessons nowhere: folder does not exist"),
        (("--sessions", "0"), "--sessions: "),
    ],
)
def test_invalid_arguments_are_rejected(
    arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said in refused("--address", "127.0.0.1:0", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_refused_start_creates_no_database(tmp_path: Path) -> None:
    games = tmp_path / "games.sqlite"
    refused("--games", games, "--engine", "Fish=uci nosuchprogram")
    assert not games.exists()


def test_file_that_is_not_a_game_database_is_not_changed(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database\n" * 100)
    assert "use --games FILE for another file" in refused("--games", file)
    assert file.read_text() == "not a database\n" * 100


def test_missing_web_extra_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("starlette", "uvicorn"):
        monkeypatch.setitem(sys.modules, package, None)
        said = refused()
        assert "missing packages for the web pages: " in said
        assert len(said.splitlines()) == 1
        monkeypatch.undo()


def test_help_says_which_extra_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "requires the extra web (installed)\n" in in_process.run("web", "--help").stdout
    monkeypatch.setattr(requirements, "installed_version", lambda name: None)
    text = in_process.run("web", "--help").stdout
    assert f"requires the extra web (install it with: {sys.executable} -m pip install " in text
    assert '"starlette' in text


@pytest.mark.thorough
def test_server_uses_tls_and_stops_on_sigterm(
    tmp_path: Path,
    certified: Certified,  # noqa: F811
    tokens: Tokens,  # noqa: F811
) -> None:
    games = tmp_path / "games.sqlite"
    secure = ("--certificate", certified.certificate, "--key", certified.key)
    words = ["web", "--no-browser", "--address", "127.0.0.1:0", "--games", str(games)]
    process = subprocess.Popen(
        [sys.executable, "-m", "kempelen.cli", *words, *secure, "--tokens", tokens.path,
         "--log-format", "json"],
        cwd=ROOT, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        event = json.loads(process.stderr.readline())
        assert event["event"] == "listening"
        base = re.sub(r"127\.0\.0\.1", "localhost", event["address"])
        assert base.startswith("https://")
        context: ssl.SSLContext = certified.client
        with urllib.request.urlopen(f"{base}/health", context=context) as answer:
            assert answer.read() == b"ok\n"
        data = json.dumps({"token": tokens.alice}).encode()
        request = urllib.request.Request(f"{base}/signin", data)
        with urllib.request.urlopen(request, context=context) as answer:
            assert "Secure" in answer.headers["Set-Cookie"]
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
        assert process.wait(PATIENCE) == 0
        assert tokens.alice not in rest
        assert json.loads(rest.splitlines()[-1])["event"] == "stopped"
        assert os.stat(games).st_mode & 0o77 == 0
        with sqlite3.connect(games) as kept:
            ((name,),) = kept.execute("SELECT name FROM visitors").fetchall()
        assert name.split()[0] == "alice"  # then a hash of the token
        kept.close()
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()
