"""`kempelen listen`: our engines over the network, and what the command is told."""

import asyncio
import contextlib
import json
import os
import random
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import chess
import pytest
from websockets.asyncio.client import ClientConnection, connect

from kempelen.listen_settings import OFFERED, ListenSettings, read
from kempelen.remote_protocols import Makers
from protocols.server.addresses import Address
from protocols.server.limits import ServerLimits
from protocols.uci.protocol import OPTIONS
from tests import in_process
from tests.pages import Page
from tests.protocols.server.conftest import Certified, Tokens, certified, tokens  # noqa: F401
from tests.protocols.server.support import PATIENCE, Caller, Running, calling, running
from tests.support import ROOT

pytestmark = pytest.mark.early

MAKERS = Makers(ListenSettings(), lambda _: None).table()
# No limit of the server is what these tests are about.
FAST: dict[str, Any] = {"lines_a_second": 1e6, "grace": 5.0}


class WebCaller(Caller):
    """A client over WebSocket, which is talked to as one over TCP."""

    def __init__(self, web: ClientConnection) -> None:
        self._web = web
        self._waiting: list[str] = []

    def say(self, *lines: str) -> None:
        self._waiting += lines

    async def hear(self) -> str:
        async with asyncio.timeout(PATIENCE):
            if self._waiting:
                await self._web.send("\n".join(self._waiting))
                self._waiting = []
            heard = await self._web.recv()
        assert isinstance(heard, str)
        return heard


@contextlib.asynccontextmanager
async def reached(run: Running, scheme: str, client: ssl.SSLContext) -> Any:
    secure = client if scheme in ("tls", "wss") else None
    if scheme in ("tcp", "tls"):
        async with calling(run, scheme, secure) as caller:
            yield caller
    else:
        url = f"{scheme}://localhost:{run.addresses[scheme].port}/uci"
        async with connect(url, ssl=secure, proxy=None) as web:
            yield WebCaller(web)


async def until(caller: Caller, start: str) -> str:
    """Return the next line that starts so."""
    while not (line := await caller.hear()).startswith(start):
        assert not line.startswith("refused"), line
        assert line or start == "", "it ended"
    return line


@pytest.mark.parametrize("scheme", ["tcp", "tls", "ws", "wss"])
async def test_a_game_of_chess(scheme: str, certified: Certified) -> None:  # noqa: F811
    async with (
        running(scheme, makers=MAKERS, tls=certified.server, **FAST) as run,
        reached(run, scheme, certified.client) as caller,
    ):
        caller.say("uci")
        assert (await caller.hear()).startswith("id name Kempelen")
        await until(caller, "uciok")
        caller.say("setoption name OwnBook value false", "ucinewgame", "isready")
        await until(caller, "readyok")
        board, rng = chess.Board(), random.Random(5)
        while not board.is_game_over(claim_draw=True):
            if board.turn == chess.WHITE:
                board.push(rng.choice(list(board.legal_moves)))
                continue
            moves = " ".join(move.uci() for move in board.move_stack)
            caller.say(f"position startpos moves {moves}", "go nodes 300")
            answer = await until(caller, "bestmove")
            board.push_uci(answer.split()[1])
        assert board.outcome(claim_draw=True) is not None
        assert board.fullmove_number > 5
        caller.say("stop", "isready")
        assert await until(caller, "") == "readyok"  # and not one bestmove too many


async def test_a_game_of_go_by_the_first_line() -> None:
    async with running(makers=MAKERS, **FAST) as run, calling(run) as caller:
        for line in ("1 boardsize 5", "2 clear_board", "kata-set-param maxPlayouts 20"):
            caller.say(line)
            assert re.fullmatch(r"=\d? ?", await caller.hear())
            assert await caller.hear() == ""
        passes = moves = 0
        while passes < 2 and moves < 100:
            answer = await caller.ask(f"genmove {'bw'[moves % 2]}")
            assert re.fullmatch(r"= ([A-E][1-5]|pass|resign)", answer, re.IGNORECASE), answer
            assert await caller.hear() == ""
            if answer == "= resign":
                break
            passes = passes + 1 if "pass" in answer.lower() else 0
            moves += 1
        assert moves > 2
        assert await caller.ask("quit") == "="
        assert await caller.gone()


async def test_many_sessions_each_play() -> None:
    async def play(run: Running, number: int) -> None:
        async with calling(run) as caller:
            caller.say("uci")
            await until(caller, "uciok")
            caller.say("position startpos moves a2a3", f"go movetime {50 + number}")
            assert re.match(r"bestmove [a-h][1-8][a-h][1-8]", await until(caller, "bestmove"))

    async with running(makers=MAKERS, **FAST) as run:
        await asyncio.gather(*(play(run, number) for number in range(12)))
        await run.empty()
        assert run.server.metrics.of("sessions_begun", "any") == 12


async def test_a_first_line_that_belongs_to_nothing_is_answered(
    capfd: pytest.CaptureFixture[str],
) -> None:
    async with running(makers=MAKERS) as run, calling(run) as caller:
        assert "'hello' is not understood; spoken here are UCI" in await caller.ask("hello")
        caller.say("uci")
        await until(caller, "uciok")
    assert capfd.readouterr() == ("", "")


async def test_a_game_that_the_server_was_told() -> None:
    makers = Makers(ListenSettings(game="othello", size="6"), lambda _: None).table()
    async with running(makers=makers, protocol="gtp") as run, calling(run) as caller:
        assert await caller.ask("gogui-rules_board_size") == "= 6"


@pytest.mark.parametrize(
    "option", ["Debug Log File", "Evaluation", "BookFile", "SyzygyPath", "GaviotaPath"]
)
async def test_no_file_is_opened_for_strangers(option: str, tmp_path: Path) -> None:
    async with running(makers=MAKERS) as run, calling(run) as caller:
        caller.say("uci")
        await until(caller, "uciok")
        file = tmp_path / "file"
        said = await caller.ask(f"setoption name {option} value {file}")
        assert said == f"info string {option} is not offered here"
        assert not file.exists()


async def test_what_is_offered_by_a_name(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def evaluate(board):\n    return 7\n")
    offers = {"Evaluation": {"mine": f"{file}:evaluate"}}
    makers = Makers(ListenSettings(offers=offers), lambda _: None).table()
    async with running(makers=makers) as run, calling(run) as caller:
        caller.say("uci")
        assert await until(caller, "option name Evaluation") == (
            "option name Evaluation type combo default handcrafted var handcrafted var mine"
        )
        await until(caller, "uciok")
        caller.say("setoption name Evaluation value mine", "position startpos", "eval")
        assert await until(caller, "info string evaluation") == (
            "info string evaluation +0.07 (white's view)"
        )
        said = await caller.ask(f"setoption name Evaluation value {file}:evaluate")
        assert str(file) not in said.replace(f"not '{file}", "")


async def test_hash_and_threads_are_a_session_s_share() -> None:
    settings = ListenSettings(limits=ServerLimits(hash=8, threads=2))
    makers = Makers(settings, lambda _: None).table()
    async with running(makers=makers) as run, calling(run) as caller:
        caller.say("uci")
        assert await until(caller, "option name Hash") == (
            "option name Hash type spin default 8 min 1 max 8"
        )
        assert await until(caller, "option name Threads") == (
            "option name Threads type spin default 1 min 1 max 2"
        )
        await until(caller, "uciok")
        said = await caller.ask("setoption name Hash value 1024")
        assert said == "info string Hash is at most 8 here"


# The nonsense of the fuzz benchmarks, by strangers.


@pytest.fixture(scope="module")
def fuzz() -> Iterator[SimpleNamespace]:
    """The programs, which import each other as scripts do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        yield SimpleNamespace(
            uci=import_module("uci_fuzz"),
            gtp=import_module("gtp_fuzz"),
            lines=import_module("nonsense").lines,
        )


def made(fuzz: SimpleNamespace, number: int, kind: Any) -> list[bytes]:
    return list(fuzz.lines(random.Random(7), number, kind.valid_line, kind.harmless))


@pytest.mark.parametrize("scheme", ["tcp", "ws"])
async def test_nonsense_in_uci(scheme: str, thorough: bool, fuzz: SimpleNamespace) -> None:
    data = [b"uci", *made(fuzz, 3000 if thorough else 150, fuzz.uci)]
    searches = sum(1 for line in data if re.fullmatch(rb"go(?! perft).*", line))
    answers, ready, failures = 0, 0, []
    async with running(scheme, makers=MAKERS, **FAST) as run:
        async for line in conversation(run, scheme, "uci", data, b"stop", b"isready"):
            answers += line.startswith("bestmove")
            if "internal error" in line or not fuzz.uci.SPOKEN.fullmatch(line):
                failures.append(line)
            ready += line == "readyok"
            if answers >= searches and ready >= data.count(b"isready") + 1:
                break
        else:
            pytest.fail("it ended early")
        assert not failures
        assert answers >= searches > 10
        await run.empty()
        assert not [event for event in run.events if " failed " in event]


@pytest.mark.parametrize("scheme", ["tcp", "ws"])
async def test_nonsense_in_gtp(scheme: str, thorough: bool, fuzz: SimpleNamespace) -> None:
    data = made(fuzz, 2000 if thorough else 120, fuzz.gtp)
    expected = [*fuzz.gtp.expected(data), "77777"]
    first = b"kata-set-param maxPlayouts 4"
    ids, failures, inside = [], [], False
    async with running(scheme, makers=MAKERS, **FAST) as run:
        async for text in conversation(run, scheme, "gtp", [first, *data], b"77777 name"):
            for line in text.split("\n"):
                if "internal error" in line:
                    failures.append(line)
                if not inside and (match := fuzz.gtp.HEAD.fullmatch(line)):
                    ids.append(match[1])
                elif not inside and line:
                    failures.append(f"no answer begins so: {line}")
                inside = bool(line)
            if ids[-1:] == ["77777"]:
                break
        assert not failures
        assert ids == ["", *expected]
        await run.empty()
        assert not [event for event in run.events if " failed " in event]


async def conversation(
    run: Running, scheme: str, protocol: str, data: list[bytes], *ending: bytes
) -> Any:
    """Say all at once, and yield the lines that are answered."""
    text = [*data, *ending]
    async with asyncio.timeout(PATIENCE):
        if scheme == "tcp":
            async with calling(run) as caller:
                caller.writer.write(b"".join(line + b"\n" for line in text))
                while line := await caller.reader.readline():
                    yield line.decode(errors="backslashreplace").rstrip("\n")
        else:
            url = f"ws://127.0.0.1:{run.addresses['ws'].port}/{protocol}"
            async with connect(url, proxy=None, max_size=None) as web:

                async def say() -> None:
                    for line in text:
                        await web.send(line)

                saying = asyncio.create_task(say())
                async for message in web:
                    assert isinstance(message, str)
                    yield message
                await saying


# What the command is told.


def refused(*arguments: object) -> str:
    """Return what the command says that does not begin."""
    ended = in_process.run("listen", *arguments)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert "Traceback" not in ended.stderr
    return ended.stderr


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "ws://example.org:80"])
def test_only_this_machine_by_itself(address: str) -> None:
    said = refused("--address", address)
    assert "others than this machine reach it" in said
    assert "needs TLS" in said
    assert "tokens (--tokens FILE)" in said
    assert "--insecure does without, and then whoever reaches the address uses" in said


def test_other_machines_with_half_of_it(certified: Certified, tokens: Tokens) -> None:  # noqa: F811
    tls = ("--certificate", certified.certificate, "--key", certified.key)
    said = refused("--address", "tls://0.0.0.0:0", *tls)
    assert "needs tokens (--tokens FILE);" in said
    said = refused("--address", "ws://0.0.0.0:0", "--tokens", tokens.path)
    assert "needs TLS (wss://);" in said


def test_the_status_is_for_this_machine() -> None:
    assert "status: 0.0.0.0:0: others than this machine reach it" in refused(
        "--status", "0.0.0.0:0"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--address", "nonsense"], "address: nonsense: write HOST:PORT, with or without tcp://"),
        (["--address", "http://localhost:1"], "address: http://localhost:1: write HOST:PORT"),
        (["--address", "localhost:99999"], "address: localhost:99999: write HOST:PORT"),
        (["--address", "tls://localhost:0"], "TLS needs --certificate FILE and --key FILE"),
        (["--status", "ws://localhost:0"], "status: ws://localhost:0: write HOST:PORT"),
        (["--idle", "0"], "--idle: a number above 0 is expected, not 0"),
        (["--line-bytes", "5"], "--line_bytes: 1024 to 4194304 are possible"),
        (["--tokens", "nowhere"], "tokens: nowhere: No such file or directory"),
        (["--game", "nowhere"], "game: "),
        (["--game", "nim", "--size", "x"], "game: "),
        (["--config", "nowhere.yaml"], "nowhere.yaml: No such file or directory"),
        (["--new-token", "me"], "say with --tokens FILE where tokens are kept"),
        (["--log", "no/such/folder/log"], "log: no/such/folder/log: No such file or directory"),
        (["--address", "203.0.113.1:1", "--insecure"], "tcp://203.0.113.1:1: "),
    ],
)
def test_what_cannot_be_meant(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in refused(*arguments)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("adress: x", "adress: unknown; possible are address, protocol,"),
        ("limits: {sesions: 3}", "limits.sesions: unknown; possible are sessions,"),
        ("limits: {sessions: many}", "limits.sessions: a whole number is expected, not 'many'"),
        ("limits: {idle: -1}", "limits.idle: a number above 0 is expected, not -1"),
        ("limits: 3", "limits: entries are expected, not '3'"),
        ("protocol: html", "protocol: 'html' is none of uci,"),
        ("log_format: xml", "log_format: 'xml' is none of text, json"),
        ("address: [tcp://x]", "address: tcp://x: write HOST:PORT"),
        ("address: []", "address: one at least is expected"),
        ("insecure: maybe", "insecure: true or false is expected, not 'maybe'"),
        ("- tcp://localhost:1", "entries such as `address:` and `limits:` are expected"),
        ("limits: {", "(line 1, column 10)"),
        ("offers: {Hash: {small: 1}}", "offers.Hash: possible are Evaluation, BookFile,"),
        ("offers: {BookFile: small}", "offers.BookFile: name: value entries are expected"),
    ],
)
def test_a_file_that_cannot_be_meant(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "server.yaml"
    file.write_text(text)
    said = refused("--config", file)
    assert message in said
    assert str(file) in said


def test_what_may_be_offered_is_what_strangers_may_not_have() -> None:
    trusted = {each.name for each in OPTIONS if each.trusted and each.kind == "string"}
    assert {*OFFERED, "Debug Log File"} == trusted


def test_flags_win(tmp_path: Path) -> None:
    file = tmp_path / "server.yaml"
    file.write_text("address: [tcp://0.0.0.0:1]\nlimits: {sessions: 3, idle: -0.5}\n")
    assert "limits.idle" in refused("--config", file)
    file.write_text("address: tcp://0.0.0.0:1\nlimits: {sessions: 3, idle: 7}\ninsecure: yes\n")
    settings = read(str(file))
    assert settings.address == ("tcp://0.0.0.0:1",)
    assert (settings.limits.sessions, settings.limits.idle) == (3, 7.0)
    assert settings.insecure
    assert "--idle: a number above 0" in refused("--config", file, "--idle", "-2")
    said = refused("--config", file, "--address", "203.0.113.1:1")
    assert "tcp://203.0.113.1:1: " in said


def test_a_certificate_that_is_none(certified: Certified, tmp_path: Path) -> None:  # noqa: F811
    other = tmp_path / "other"
    other.write_text("nothing")
    tls = ("--address", "tls://127.0.0.1:0", "--key", certified.key)
    assert f"certificate: {tmp_path}/no: No such file" in refused(
        *tls, "--certificate", tmp_path / "no"
    )
    assert "are no certificate and its key, in PEM" in refused(*tls, "--certificate", other)


def test_an_address_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for flag, name in (("--address", "tcp://127.0.0.1"), ("--status", "status: 127.0.0.1")):
            more = ("--address", "127.0.0.1:0") if flag == "--status" else ()
            said = refused(flag, f"127.0.0.1:{port}", *more)
            assert f"{name}:{port}: " in said
            assert "in use" in said


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "websockets", None)
    said = refused("--address", "ws://127.0.0.1:0")
    assert "WebSocket and HTTP need more packages: pip install 'kempelen[server]'" in said
    assert "pip install 'kempelen[server]'" in refused(
        "--address", "127.0.0.1:0", "--status", "127.0.0.1:0"
    )


def test_a_new_token(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    made = in_process.run("listen", "--new-token", "alice", "--tokens", file)
    assert made.returncode == 0
    assert re.fullmatch(r"[\w-]{43}\n", made.stdout)
    assert made.stdout.strip() not in made.stderr
    assert made.stdout.strip() not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert "alice has a token" in refused("--new-token", "alice", "--tokens", file)
    assert "a name has 1 to 64 letters" in refused("--new-token", "a b", "--tokens", file)
    assert "No such file" in refused("--new-token", "bob", "--tokens", tmp_path / "no" / "tokens")


# The command as a process: signals, its log, and what it leaves behind.


class Process:
    """`kempelen listen` in a process of its own."""

    def __init__(self, *arguments: object) -> None:
        words = [sys.executable, "-m", "kempelen.cli", "listen", *map(str, arguments)]
        self.process = subprocess.Popen(
            words, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )

    def address(self, event: str = "listening") -> Address:
        """Return the next address at which it says that it listens."""
        assert self.process.stderr
        for line in self.process.stderr:
            if match := re.search(rf" {event} address=(\S+)", line):
                return Address.from_text(match[1])
        raise AssertionError("it ended")

    def end(self, number: int) -> tuple[int, str]:
        """Return how it ends by a signal, and what it said."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, said


@pytest.fixture
def processes() -> Iterator[list[Process]]:
    made: list[Process] = []
    yield made
    for each in made:
        each.process.kill()
        each.process.communicate()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_it_ends_when_told_to(processes: list[Process], number: int, status: int) -> None:
    listening = Process("--address", "127.0.0.1:0", "--address", "ws://127.0.0.1:0")
    processes.append(listening)
    address, web = listening.address(), listening.address()
    assert (address.scheme, web.scheme) == ("tcp", "ws")
    with (
        socket.create_connection((address.host, address.port), timeout=PATIENCE) as thinking,
        socket.create_connection((web.host, web.port), timeout=PATIENCE),
        socket.create_connection((address.host, address.port), timeout=PATIENCE) as silent,
    ):
        talk = thinking.makefile("rw")
        talk.write("uci\nposition startpos moves a2a3\ngo movetime 2500\n")
        talk.flush()
        while not talk.readline().startswith("info depth"):
            pass
        listening.process.send_signal(number)
        assert silent.makefile().read() == "refused the server ends\n"
        said = talk.read().splitlines()
        assert said[-2].startswith("bestmove ")
        assert said[-1] == "refused the server ends"
    _, log = listening.process.communicate(timeout=PATIENCE)
    assert listening.process.returncode == status
    assert "Traceback" not in log
    assert log.splitlines()[-1].endswith(" stopped")


def test_the_log_in_a_file_and_the_status(
    processes: list[Process],
    tmp_path: Path,
    tokens: Tokens,  # noqa: F811
) -> None:
    log = tmp_path / "log"
    config = tmp_path / "server.yaml"
    config.write_text(f"tokens: {tokens.path}\nlog_format: json\naddress: [127.0.0.1:0]\n")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    listening = Process("--config", config, "--log", log, "--status", f"127.0.0.1:{port}")
    processes.append(listening)
    until = time.monotonic() + PATIENCE
    while "status" not in (text := log.read_text() if log.exists() else ""):
        assert time.monotonic() < until
        time.sleep(0.05)
    address = Address.from_text(json.loads(text.splitlines()[0])["address"])
    with socket.create_connection((address.host, address.port), timeout=PATIENCE) as caller:
        caller.sendall(f"authorize {tokens.bob}\nuci\nquit\n".encode())
        said = caller.makefile().read()
    assert said.startswith("authorized\nid name Kempelen")
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as caller:
        caller.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert "kempelen_sessions_begun_total" in caller.makefile().read()
    status, errors = listening.end(signal.SIGTERM)
    assert (status, errors) == (0, "")
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert [each["event"] for each in events] == [
        *("listening", "status", "connected", "began", "ended", "stopped"),
    ]
    assert events[3]["name"] == "bob"
    assert events[4]["lines"] == 2
    assert tokens.bob not in log.read_text()


async def test_the_file_of_the_page(
    processes: list[Process],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    certified: Certified,  # noqa: F811
    tokens: Tokens,  # noqa: F811
) -> None:
    page = Page("docs/guide/server.md")
    (tmp_path / "server.yaml").write_text(page.files()["server.yaml"])
    (tmp_path / "my_eval.py").write_text(Page("README.md").files()["my_eval.py"])
    shutil.copy(certified.certificate, tmp_path / "certificate.pem")
    shutil.copy(certified.key, tmp_path / "key.pem")
    monkeypatch.chdir(tmp_path)
    elsewhere = ("--address", "tls://127.0.0.1:0", "--address", "wss://127.0.0.1:0")
    listening = Process("--config", "server.yaml", *elsewhere, "--status", "127.0.0.1:0")
    processes.append(listening)
    async with asyncio.timeout(PATIENCE):
        while len(lines := _lines_of(tmp_path / "server.log")) < 3:
            await asyncio.sleep(0.05)
    tls, web = (Address.from_text(json.loads(line)["address"]) for line in lines[:2])
    opened = await asyncio.open_connection(
        tls.host, tls.port, ssl=certified.client, server_hostname="localhost"
    )
    caller = Caller(*opened)
    assert await caller.ask(f"authorize {tokens.alice}") == "authorized"
    caller.say("uci")
    assert (await until(caller, "option name Hash")).endswith(" max 32")
    assert (await until(caller, "option name Evaluation")).endswith(" var mine")
    await until(caller, "uciok")
    caller.say("setoption name Evaluation value mine", "go depth 1")
    assert (await until(caller, "bestmove")).startswith("bestmove ")
    await caller.close()
    headers = {"Authorization": f"Bearer {tokens.bob}", "Origin": "https://chess.example.org"}
    url = f"wss://localhost:{web.port}/gtp"
    async with connect(url, ssl=certified.client, additional_headers=headers, proxy=None) as other:
        assert await WebCaller(other).ask("name") == "= Kempelen\n"
    status, errors = await asyncio.to_thread(listening.end, signal.SIGTERM)
    assert (status, errors) == (0, "")


def _lines_of(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def test_nothing_of_the_network_is_imported_by_others() -> None:
    code = (
        "import sys; from kempelen import cli, uci, gtp, first_line; "
        "print([name for name in sys.modules if name.startswith(('websockets', 'asyncio', 'ssl', "
        "'protocols.server'))])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert run.stdout == "[]\n"
