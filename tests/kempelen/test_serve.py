"""`kempelen serve`: its settings, and how it starts and stops."""

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from kempelen.console.server_settings import OFFERABLE_OPTIONS, ServerSettings, read_file
from protocols.server.addresses import Address
from protocols.uci.engine_options import OPTIONS
from tests import in_process, waiting
from tests.pages import Page
from tests.protocols.server.credentials import Certified, Tokens
from tests.protocols.server.support import (
    PATIENCE,
    Caller,
    WebCaller,
    until,
)
from tests.support import ROOT

pytestmark = pytest.mark.early


# Settings.


def refused(*arguments: object) -> str:
    """Return the error of a command that does not start."""
    ended = in_process.run("serve", *arguments)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert "Traceback" not in ended.stderr
    return ended.stderr


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "ws://example.org:80"])
def test_public_address_requires_tls_and_tokens(address: str) -> None:
    said = refused("--address", address)
    assert "reachable from other machines" in said
    assert "requires TLS" in said
    assert "tokens (--tokens FILE)" in said
    assert "--insecure allows it; then anyone who reaches the address can use" in said


def test_public_address_requires_both_tls_and_tokens(certified: Certified, tokens: Tokens) -> None:
    tls = ("--certificate", certified.certificate, "--key", certified.key)
    said = refused("--address", "tls://0.0.0.0:0", *tls)
    assert "requires tokens (--tokens FILE);" in said
    said = refused("--address", "ws://0.0.0.0:0", "--tokens", tokens.path)
    assert "requires TLS (wss://);" in said


def test_status_address_must_be_local() -> None:
    assert "status: 0.0.0.0:0: reachable from other machines" in refused("--status", "0.0.0.0:0")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--address", "nonsense"],
            "nonsense: invalid address (expected [tcp|tls|ws|wss://]HOST:PORT)",
        ),
        (["--address", "http://localhost:1"], "address: http://localhost:1: invalid address"),
        (["--address", "localhost:99999"], "address: localhost:99999: invalid address"),
        (["--address", "tls://localhost:0"], "TLS needs --certificate FILE and --key FILE"),
        (
            ["--status", "ws://localhost:0"],
            "status: ws://localhost:0: invalid address (expected HOST:PORT)",
        ),
        (["--idle-timeout", "0"], "--idle-timeout: must be above 0 (got 0)"),
        (["--line-bytes", "5"], "--line-bytes: must be 1024 to 4194304 (got 5)"),
        (["--tokens", "nowhere"], "tokens: nowhere: No such file or directory"),
        (["--game", "nowhere"], "game: "),
        (["--game", "nim", "--size", "x"], "game: "),
        (["--config", "nowhere.yaml"], "nowhere.yaml: No such file or directory"),
        (["--new-token", "me"], "--new-token requires --tokens FILE"),
        (["--log", "no/such/folder/log"], "log: no/such/folder/log: No such file or directory"),
        (["--address", "203.0.113.1:1", "--insecure"], "tcp://203.0.113.1:1: "),
    ],
)
def test_invalid_arguments_are_rejected(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in refused(*arguments)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("adress: x", "adress: unknown key (expected one of: address, protocol,"),
        ("limits: {sesions: 3}", "limits.sesions: unknown key (expected one of: sessions,"),
        (
            "limits: {sessions: many}",
            "limits.sessions: invalid value 'many' (expected a whole number)",
        ),
        ("limits: {idle_timeout: -1}", "limits.idle_timeout: must be above 0 (got -1)"),
        ("limits: 3", "limits: invalid value '3' (expected entries)"),
        ("protocol: html", "protocol: invalid value 'html' (expected one of: uci,"),
        ("log_format: xml", "log_format: invalid value 'xml' (expected one of: text, json"),
        ("address: [tcp://x]", "address: tcp://x: invalid address"),
        ("address: []", "address: missing (expected at least one)"),
        ("insecure: maybe", "insecure: invalid value 'maybe' (expected true or false)"),
        ("- tcp://localhost:1", "missing entries (expected `address:` and `limits:`)"),
        ("limits: {", "(line 1, column 10)"),
        (
            "offers: {Hash: {small: 1}}",
            "offers.Hash: unknown option (expected one of: Evaluation, BookFile,",
        ),
        (
            "offers: {BookFile: small}",
            "offers.BookFile: invalid value 'small' (expected name: value entries)",
        ),
    ],
)
def test_invalid_config_file_is_rejected(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "server.yaml"
    file.write_text(text)
    said = refused("--config", file)
    assert message in said
    assert str(file) in said


def test_offerable_options_are_trusted_except_the_debug_log() -> None:
    trusted = {each.name for each in OPTIONS if each.requires_trust and each.type == "string"}
    assert {*OFFERABLE_OPTIONS, "Debug Log File"} == trusted


def test_flags_override_the_config_file(tmp_path: Path) -> None:
    file = tmp_path / "server.yaml"
    file.write_text("address: [tcp://0.0.0.0:1]\nlimits: {sessions: 3, idle: -0.5}\n")
    assert "limits.idle_timeout" in refused("--config", file)
    file.write_text("address: tcp://0.0.0.0:1\nlimits: {sessions: 3, idle: 7}\ninsecure: yes\n")
    settings = read_file(str(file))
    assert settings.address == ("tcp://0.0.0.0:1",)
    assert (settings.limits.sessions, settings.limits.idle_timeout) == (3, 7.0)
    assert settings.insecure
    assert "--idle-timeout: must be above 0" in refused("--config", file, "--idle-timeout", "-2")
    said = refused("--config", file, "--address", "203.0.113.1:1")
    assert "tcp://203.0.113.1:1: " in said


def test_invalid_certificate_is_rejected(certified: Certified, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("nothing")
    tls = ("--address", "tls://127.0.0.1:0", "--key", certified.key)
    assert f"certificate: {tmp_path}/no: No such file" in refused(
        *tls, "--certificate", tmp_path / "no"
    )
    assert "invalid certificate or key (expected" in refused(*tls, "--certificate", other)


def test_address_in_use_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for flag, name in (("--address", "tcp://127.0.0.1"), ("--status", "status: 127.0.0.1")):
            more = ("--address", "127.0.0.1:0") if flag == "--status" else ()
            said = refused(flag, f"127.0.0.1:{port}", *more)
            assert f"{name}:{port}: " in said
            assert "in use" in said


def test_missing_server_extra_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "websockets", None)
    said = refused("--address", "ws://127.0.0.1:0")
    assert "missing packages for WebSocket and HTTP: " in said
    assert "-m pip install " in refused("--address", "127.0.0.1:0", "--status", "127.0.0.1:0")


def test_new_token_is_printed_but_not_stored_in_clear(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    made = in_process.run("serve", "--new-token", "alice", "--tokens", file)
    assert made.returncode == 0
    assert re.fullmatch(r"[\w-]{43}\n", made.stdout)
    assert made.stdout.strip() not in made.stderr
    assert made.stdout.strip() not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert "alice already has a token" in refused("--new-token", "alice", "--tokens", file)
    assert "a name must have 1 to 64 letters" in refused("--new-token", "a b", "--tokens", file)
    assert "No such file" in refused("--new-token", "bob", "--tokens", tmp_path / "no" / "tokens")


def test_windows_warns_of_an_unprotected_token_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "tokens"
    monkeypatch.setattr(sys, "platform", "win32")
    made = in_process.run("serve", "--new-token", "alice", "--tokens", file)
    assert made.returncode == 0
    assert f"{file}: not protected by file permissions on Windows" in made.stderr


# The command as a process: signals, log and exit.


class Process:
    """`kempelen serve` as a process."""

    def __init__(self, *arguments: object) -> None:
        words = [sys.executable, "-m", "kempelen.cli", "serve", *map(str, arguments)]
        self.process = subprocess.Popen(
            words, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )

    def address(self, event: str = "listening") -> Address:
        """Return the next address in the log."""
        assert self.process.stderr
        for line in self.process.stderr:
            if match := re.search(rf" {event} address=(\S+)", line):
                return Address.from_text(match[1])
        raise AssertionError("it ended")

    def end(self, number: int, limit: float = PATIENCE) -> tuple[int, str]:
        """Send a signal; return the exit status and the rest of the log."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=limit)
        return self.process.returncode, said


@pytest.fixture
def processes() -> Iterator[list[Process]]:
    made: list[Process] = []
    yield made
    for each in made:
        each.process.kill()
        each.process.communicate()


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_server_stops_on_sigterm_and_sigint(
    processes: list[Process], number: int, status: int
) -> None:
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
        assert silent.makefile().read() == "refused the server is shutting down\n"
        said = talk.read().splitlines()
        assert said[-2].startswith("bestmove ")
        assert said[-1] == "refused the server is shutting down"
    _, log = listening.process.communicate(timeout=PATIENCE)
    assert listening.process.returncode == status
    assert "Traceback" not in log
    assert log.splitlines()[-1].endswith(" stopped")


STUCK = """
import threading
from pathlib import Path
from chomp import Chomp

class Stuck(Chomp):
    def play(self, move):
        Path(__file__).with_name("stuck").touch()
        threading.Event().wait()
"""


@pytest.mark.thorough
def test_server_stops_even_if_a_thread_never_ends(processes: list[Process], tmp_path: Path) -> None:
    shutil.copy(ROOT / "tests/data/games/chomp.py", tmp_path)
    (tmp_path / "stuck.py").write_text(STUCK)
    game = ("--protocol", "gtp", "--game", f"{tmp_path / 'stuck.py'}:Stuck")
    listening = Process("--address", "127.0.0.1:0", *game, "--shutdown-timeout", "0.1")
    processes.append(listening)
    address = listening.address()
    with socket.create_connection((address.host, address.port), timeout=PATIENCE) as caller:
        caller.sendall(b"play b a1\n")
        assert waiting.until((tmp_path / "stuck").exists)
        status, log = listening.end(signal.SIGTERM, limit=20.0)  # the thread had 30 s
    assert status == 0
    assert "Traceback" not in log


@pytest.mark.thorough
def test_log_file_and_status_metrics_record_a_session(
    processes: list[Process],
    tmp_path: Path,
    tokens: Tokens,
) -> None:
    log = tmp_path / "log"
    config = tmp_path / "server.yaml"
    config.write_text(f"tokens: {tokens.path}\nlog_format: json\naddress: [127.0.0.1:0]\n")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    listening = Process("--config", config, "--log", log, "--status", f"127.0.0.1:{port}")
    processes.append(listening)
    assert waiting.until(lambda: log.exists() and "status" in log.read_text())
    address = Address.from_text(json.loads(log.read_text().splitlines()[0])["address"])
    with socket.create_connection((address.host, address.port), timeout=PATIENCE) as caller:
        caller.sendall(f"authorize {tokens.bob}\nuci\nquit\n".encode())
        said = caller.makefile().read()
    assert said.startswith("authorized\nid name Kempelen")
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as caller:
        caller.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        metrics = caller.makefile().read()
    assert "\nkempelen_sessions_begun_total" in metrics
    assert "\nkempelen_searches 0\n" in metrics
    assert "\nkempelen_free_hash_megabytes 4096\n" in metrics
    status, errors = listening.end(signal.SIGTERM)
    assert (status, errors) == (0, "")
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert [each["event"] for each in events] == [
        *("listening", "status", "connected", "began", "ended", "stopped"),
    ]
    assert events[3]["name"] == "bob"
    assert events[4]["lines"] == 2
    assert tokens.bob not in log.read_text()


async def test_config_file_of_the_guide_works(
    processes: list[Process],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    certified: Certified,
    tokens: Tokens,
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


def test_other_commands_import_no_network_modules() -> None:
    code = (
        "import sys; from kempelen import cli, protocol_detector; "
        "from kempelen.commands import gtp, uci; "
        "print([name for name in sys.modules if name.startswith(('websockets', 'asyncio', 'ssl', "
        "'protocols.server'))])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert run.stdout == "[]\n"


def test_tls_is_1_2_or_newer(certified: Certified) -> None:
    context = ServerSettings(certificate=certified.certificate, key=certified.key).ssl_context()
    assert context
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2
