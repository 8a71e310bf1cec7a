"""`kempelen connect` and `kempelen serve`, each as a process."""

import asyncio
import contextlib
import subprocess
import sys
import threading
import time

import chess
import chess.engine
import pytest

from tests import in_process
from tests.protocols.remote.support import certificate
from tests.waiting import free_port, listens, until

pytestmark = pytest.mark.early

LIMIT = 60.0
KEMPELEN = (sys.executable, "-m", "kempelen.cli")


class ServerProcess:
    """A server that can be killed and started again."""

    def __init__(self, *arguments, scheme="tcp"):
        self.address = f"{scheme}://127.0.0.1:{free_port()}"
        self._arguments = arguments
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def start(self):
        self._process = subprocess.Popen(
            [*KEMPELEN, "serve", "--address", self.address, *self._arguments],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        port = int(self.address.rpartition(":")[2])
        assert until(lambda: listens(port) or self._process.poll() is not None)
        assert self._process.poll() is None, f"no server at {self.address}"

    def kill(self):
        self._process.kill()
        self._process.wait()


class ConnectProcess:
    """The GUI's end of `kempelen connect`."""

    def __init__(self, address, *arguments, environment=None):
        self._process = subprocess.Popen(
            [*KEMPELEN, "connect", address, *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, bufsize=1, env=environment,
        )  # fmt: skip
        self._timer = threading.Timer(LIMIT, self._process.kill)
        self._timer.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._timer.cancel()
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def send(self, *lines):
        for line in lines:
            self._process.stdin.write(f"{line}\n")

    def read_until(self, start):
        heard = []
        for line in self._process.stdout:
            heard.append(line.rstrip("\n"))
            if line.startswith(start):
                return heard
        raise AssertionError(f"no {start} after {heard}")

    def answer(self):
        """Return one GTP answer."""
        heard = []
        for line in self._process.stdout:
            if line == "\n":
                return "\n".join(heard)
            heard.append(line.rstrip("\n"))
        raise AssertionError(f"no end of {heard}")

    def end(self, limit, close=True):
        """Close the input, and return status, output and errors; it ends within `limit`."""
        if close:
            self._process.stdin.close()
        status = self._process.wait(limit)
        return status, self._process.stdout.read(), self._process.stderr.read()


@pytest.mark.thorough
def test_uci_game_survives_repeated_server_restarts():
    board = chess.Board()
    with ServerProcess("--protocol", "uci") as far, ConnectProcess(far.address) as near:
        near.send("uci", "setoption name OwnBook value false", "ucinewgame", "isready")
        assert near.read_until("uciok")[0].startswith("id name Kempelen")
        near.read_until("readyok")
        for turn in range(6):
            moves = " ".join(move.uci() for move in board.move_stack)
            killed = turn % 2 == 0
            limit = f"wtime 20000 btime 20000 movetime {1500 if killed else 100}"
            near.send(f"position startpos moves {moves}", f"go {limit}")
            if killed:
                near.read_until("info depth")
                far.kill()
                far.start()
            heard = near.read_until("bestmove")
            assert not any("legal move" in line for line in heard)
            board.push_uci(heard[-1].split()[1])
        near.send("quit")
        status, _, errors = near.end(5.0, close=False)
    assert status == 0
    assert errors.count("reconnected") == 3
    assert "Traceback" not in errors


@pytest.mark.thorough
def test_gtp_game_survives_a_server_restart():
    with ServerProcess() as far, ConnectProcess(far.address) as near:
        for line in ("boardsize 5", "komi 0.5", "kata-set-param maxVisits 50", "play b C3"):
            near.send(line)
            assert near.answer() == "="
        near.send("7 genmove w")
        assert near.answer().startswith("=7 ")
        near.send("showboard")
        shown = near.answer()
        far.kill()
        near.send("8 showboard", "9 genmove b")
        far.start()
        assert near.answer() == shown.replace("=", "=8", 1)
        assert near.answer().startswith("=9 ")
        near.send("quit")
        assert near.answer() == "="
        assert near.end(5.0, close=False)[0] == 0


@pytest.mark.thorough
async def test_xboard_game_survives_repeated_server_restarts():
    board = chess.Board()
    limit = chess.engine.Limit(white_clock=30, black_clock=30, white_inc=1, black_inc=1)
    with ServerProcess("--protocol", "xboard") as far:
        transport, engine = await chess.engine.popen_xboard(
            [*KEMPELEN, "connect", far.address, "--protocol", "xboard"]
        )
        for turn in range(6):
            asked = asyncio.create_task(engine.play(board, limit))
            await asyncio.sleep(0.2)
            if turn % 2:
                far.kill()
                far.start()
            board.push((await asyncio.wait_for(asked, LIMIT)).move)
        await asyncio.wait_for(engine.quit(), LIMIT)
        transport.close()


@pytest.mark.thorough
def test_match_is_played_against_a_remote_server():
    with ServerProcess() as far:
        kempelen = f"cmd={sys.executable},args=-m kempelen.cli"
        result = in_process.run(
            "match", "--engine", f"{kempelen} uci,name=here",
            "--engine", f"{kempelen} connect {far.address},name=there",
            "--tc", "1+0.1", "--games", 2, "--maxmoves", 4, "--margin", 5000,
        )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "there" in result.stdout


@pytest.fixture(scope="module")
def secured(tmp_path_factory):
    """A server over WebSocket with TLS and tokens: its address, certificate, and a token."""
    folder = tmp_path_factory.mktemp("secured")
    pem, key = certificate(folder)
    tokens = folder / "tokens"
    made = in_process.run("serve", "--tokens", tokens, "--new-token", "ann")
    assert made.returncode == 0, made.stderr
    (folder / "token").write_text(made.stdout)
    options = ("--tokens", str(tokens), "--certificate", str(pem), "--key", str(key))
    with (
        ServerProcess(*options, scheme="wss") as web,
        ServerProcess(*options, scheme="tls") as plain,
    ):
        yield folder, pem, {"wss": web, "tls": plain}


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("scheme", ["wss", "tls"])
def test_client_reconnects_over_tls_with_a_token(secured, scheme):
    folder, pem, servers = secured
    far = servers[scheme]
    options = ("--token-file", str(folder / "token"), "--ca", str(pem))
    with ConnectProcess(far.address, *options) as near:
        near.send("uci", "position startpos moves e2e4", "go movetime 8000")
        near.read_until("info depth")
        far.kill()
        far.start()
        near.send("stop")
        assert near.read_until("bestmove")
        status, _, errors = near.end(20.0)
    assert status == 0
    assert "reconnect" in errors


@pytest.mark.parametrize("scheme", ["wss", "tls"])
def test_wrong_token_is_rejected(secured, scheme, tmp_path):
    _, pem, servers = secured
    (tmp_path / "token").write_text("kempelen-wrong\n")
    options = ("--token-file", str(tmp_path / "token"), "--ca", str(pem))
    with ConnectProcess(servers[scheme].address, *options) as near:
        near.send("uci")
        status, said, errors = near.end(20.0, close=False)
    assert status == 1
    assert "wrong token" in errors
    assert "info string" in said
    assert "wrong token" in said
    assert "kempelen-wrong" not in said + errors


@pytest.mark.parametrize("scheme", ["wss", "tls"])
def test_untrusted_certificate_is_rejected(secured, scheme):
    folder, _, servers = secured
    with ConnectProcess(servers[scheme].address, "--token-file", str(folder / "token")) as near:
        near.send("uci")
        status, said, errors = near.end(20.0, close=False)
    assert status == 1
    assert "untrusted server certificate" in errors
    assert "untrusted server certificate" in said


@pytest.mark.thorough
def test_end_of_input_stops_the_search_with_a_bestmove():
    with ServerProcess() as far, ConnectProcess(far.address) as near:
        near.send("uci")
        near.read_until("uciok")
        near.send("go infinite")
        near.read_until("info")
        began = time.monotonic()
        status, said, _ = near.end(10.0)
        assert status == 0
        assert "bestmove" in said
        assert time.monotonic() - began < 8.0


@pytest.mark.parametrize("last", ["quit", None])
def test_client_exits_soon_without_a_server(last):
    with ConnectProcess(f"tcp://127.0.0.1:{free_port()}") as near:
        near.send("uci", *([last] if last else []))
        time.sleep(0.5)
        began = time.monotonic()
        status, said, errors = near.end(15.0)
        assert time.monotonic() - began < 6.0
    if last is None:  # it waits for an answer
        assert status == 1
        assert "no connection: Connection refused" in said
        assert "no connection: Connection refused" in errors


def test_connection_timeout_is_reported():
    with ConnectProcess(f"tcp://127.0.0.1:{free_port()}", "--timeout", "0.5") as near:
        near.send("uci")
        status, said, errors = near.end(20.0, close=False)
    assert status == 1
    assert "Connection refused" in said
    assert "kempelen connect: tcp://127.0.0.1:" in errors


def test_client_imports_no_heavy_modules():
    code = "import sys; import kempelen.commands.connect, protocols.remote.engine;"
    code += "import protocols.remote.line_channel, protocols.remote.uci, protocols.remote.gtp;"
    code += "import protocols.remote.xboard;"
    code += "heavy = 'numba numpy chess asyncio rich websockets'.split();"
    code += "sys.exit(' '.join(name for name in heavy if name in sys.modules) or 0)"
    assert subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE).stderr == b""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["http://host:1"], "invalid address (expected "),
        (["tcp://host"], "invalid address (expected "),
        (["tcp://secret@host:1"], "--token-file"),
        (["tcp://host:1", "--token-file", "/nowhere"], "token file /nowhere: No such file"),
        (["tcp://host.example:1", "--token-file", "TOKEN"], "use tls:// or wss://"),
        (["tcp://127.0.0.1:1", "--token-file", "TWO"], "expected a single word"),
        (["tcp://127.0.0.1:1", "--ca", "TOKEN"], "does not use TLS"),
        (["tls://127.0.0.1:1", "--ca", "TOKEN"], "certificates"),
        (["tls://127.0.0.1:1", "--ca", "/nowhere"], "certificates /nowhere: No such file"),
    ],
)
def test_invalid_arguments_are_rejected(arguments, message, tmp_path):
    (tmp_path / "TOKEN").write_text("hidden-word")
    (tmp_path / "TWO").write_text("two words")
    words = [str(tmp_path / each) if each in ("TOKEN", "TWO") else each for each in arguments]
    result = in_process.run("connect", *words)
    assert result.returncode == 2
    assert message in result.stderr
    assert "hidden-word" not in result.stderr
    assert "secret" not in result.stderr.replace("no token", "")


@pytest.mark.thorough
def test_token_from_the_environment_requires_tls_or_insecure(monkeypatch):
    monkeypatch.setenv("KEMPELEN_TOKEN", "hidden-word")
    result = in_process.run("connect", "ws://host.example:80")
    assert result.returncode == 2
    assert "--insecure" in result.stderr
