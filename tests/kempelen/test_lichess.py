"""`kempelen lichess` on the command line."""

import signal
import subprocess
import sys

import pytest

from tests import in_process
from tests.protocols.remote.lichess_server import TOKEN, LichessServer


def test_provide_serves_analysis_until_sigterm(tmp_path):
    (tmp_path / "token").write_text(TOKEN)
    with LichessServer() as server:
        process = subprocess.Popen(
            [
                sys.executable, "-m", "kempelen.cli", "lichess", "--name", "Here",
                "--token-file", str(tmp_path / "token"), "--url", server.url,
                "--engine-url", server.url, "--option", "Skill Level=20", "--threads", "1",
            ],
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            answer = server.ask("work", depth=3)
            assert answer.ended.wait(60)
            assert answer.whole
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=20)
        finally:
            process.kill()
            process.wait()
        assert process.returncode == 0
        assert errors == "kempelen lichess: Here: registered on the analysis board\n"


def test_wrong_token_is_rejected(monkeypatch):
    monkeypatch.setenv("LICHESS_API_TOKEN", "lip_wrongwrong")
    with LichessServer() as server:
        result = in_process.run("lichess", "--url", server.url, "--engine-url", server.url)
    assert result.returncode == 1
    assert "engine:read" in result.stderr
    assert "lip_wrongwrong" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--token-file"),
        (["--url", "http://lichess.example"], "use https://"),
        (["--url", "lichess.org"], "expected https://HOST"),
        (["--url", "https://lip_x@lichess.org"], "expected https://HOST"),
        (["--engine-url", "https://lichess.org/api"], "expected only a host and a port"),
        (["--token-file", "/nowhere"], "No such file"),
        (["--token-file", "TOKEN", "--option", "Nonsense=1"], "unknown option"),
        (["--token-file", "TOKEN", "--option", "Skill Level=99"], "--option"),
        (["--token-file", "TOKEN", "--option", "Hash=99"], "--option Hash=99"),
        (["--token-file", "TOKEN", "--option", "Hash"], "NAME=VALUE"),
        (["--token-file", "TOKEN", "--ca", "/nowhere"], "certificates /nowhere"),
        (["--name", "x"], "3 to 200"),
    ],
)
def test_invalid_arguments_are_rejected(arguments, message, tmp_path, monkeypatch):
    monkeypatch.delenv("LICHESS_API_TOKEN", raising=False)
    (tmp_path / "TOKEN").write_text(TOKEN)
    words = [str(tmp_path / each) if each == "TOKEN" else each for each in arguments]
    result = in_process.run("lichess", *words)
    assert result.returncode == 2
    assert message in result.stderr
    assert TOKEN not in result.stderr
    assert "lip_x" not in result.stderr
