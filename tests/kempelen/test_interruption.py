"""Every command ends soon after a signal, also as process 1, and saves its work."""

import _thread
import asyncio
import ctypes
import gc
import os
import queue
import re
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import chess
import pytest
import yaml

from agent.chess.search.selfplay_settings import SelfPlaySettings
from agent.kernel.decorators import CACHE_VARIABLE
from kempelen import cli
from kempelen.console import console_events, interruption
from kempelen.training.selfplay import SelfPlayPlan, generate
from openings.book_provider import SHIPPED_BOOK
from tests.support import FAILING
from tests.systems import module_or_skip
from tests.waiting import PATIENCE, alive, until

supervisor = module_or_skip("protocols.client.supervisor")

# `docker stop` kills after 10 s. Commands end within 1 s, but not on a busy machine.
END_LIMIT_S = 10.0
# CPU time after which a command has loaded its modules and works.
WORKING_S = 2.0
SIGTERM_STATUS = 128 + signal.SIGTERM


class Running:
    """A command as a process, on Linux with root as process 1 of its own namespace."""

    def __init__(
        self,
        *words: str,
        text: str = "",
        environment: dict[str, str] | None = None,
        as_process_1: bool = False,
    ) -> None:
        line = [sys.executable, "-m", "kempelen.cli", *words]
        if as_process_1:
            line = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", *line]
        self.output = b""
        self._started = subprocess.Popen(
            line,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
        )  # fmt: skip
        assert self._started.stdin is not None
        self._started.stdin.write(text.encode())
        self._started.stdin.flush()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self.pid = self._started.pid
        if as_process_1:
            assert until(lambda: self.ended or supervisor.children(self._started.pid))
            self.pid = next(iter(supervisor.children(self._started.pid)), self.pid)

    def _read(self) -> None:
        assert self._started.stdout is not None
        while chunk := self._started.stdout.read1():  # type: ignore[attr-defined]
            self.output = (self.output + chunk)[-(1 << 20) :]

    @property
    def ended(self) -> bool:
        return self._started.poll() is not None

    @property
    def handles_sigterm(self) -> bool:
        try:
            found = re.search(r"SigCgt:\s*(\w+)", Path(f"/proc/{self.pid}/status").read_text())
        except OSError:
            return False
        return found is not None and bool(int(found[1], 16) >> (signal.SIGTERM - 1) & 1)

    @property
    def descendants(self) -> list[int]:
        found = [self.pid]
        for process in found:
            found += supervisor.children(process)
        return found[1:]

    @property
    def cpu_time(self) -> float:
        return sum(map(cpu_time, (self.pid, *self.descendants)))

    def send(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait(self, limit: float = PATIENCE) -> int:
        """Wait for the end, and return the exit status."""
        status = self._started.wait(limit)
        self._reader.join(limit)
        return status

    def close(self) -> None:
        self._started.kill()
        self._started.wait()
        self._reader.join()
        for stream in (self._started.stdin, self._started.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()


def cpu_time(process: int) -> float:
    """Return the CPU time of a process in seconds."""
    try:
        fields = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.fixture
def start() -> Iterator[Callable[..., Running]]:
    """Return a function that starts a command, which is killed after the test."""
    with ExitStack() as stack:

        def start(*words: str, **options: Any) -> Running:
            running = Running(*words, **options)
            stack.callback(running.close)
            return running

        yield start


# Every command, as process 1.


@dataclass(frozen=True)
class Case:
    """How to keep a command busy, and how to know that it is.

    In `words`, {port} is a server that does not answer, {fifo} is a file that never ends, and
    {folder} is empty. The command is busy when its output matches `ready`, when it connects to the
    server or opens the file, or after some CPU time. A command that is `short` may also end by
    itself.
    """

    words: str = ""
    text: str = ""
    ready: str = ""
    status: int = SIGTERM_STATUS
    short: bool = False


SHORT = Case("{fifo}", short=True)
UCI = Case(text="uci\nposition startpos\ngo infinite\n", ready="info depth")
OTHELLO = "--game othello --depth 60"
ANALYSIS = (
    '{"id": "a", "moves": [], "rules": "tromp-taylor", "komi": 7.5, "boardXSize": 19, '
    '"boardYSize": 19, "maxVisits": 100000000, "reportDuringSearchEvery": 0.1}\n'
)
CASES = {
    "": UCI,
    "uci": UCI,
    "xboard": Case(text="xboard\nprotover 2\nnew\npost\nanalyze\n", ready=r"\n\d+ -?\d+ \d+ \d+ "),
    "gtp": Case(text="kata-analyze b 10\n", ready="info move"),
    "web": Case(
        "--no-browser --address 127.0.0.1:0 --games {folder}/web.sqlite",
        ready="listening",
        status=0,
    ),
    "analyse": Case("{pgn} --nodes 10000000000"),
    "katago-analysis": Case(text=ANALYSIS, ready='"isDuringSearch":true'),
    "suite": Case("{epd} --movetime 1000"),
    "match": Case(
        "--engine agent=chess,name=A --engine agent=chess,name=B --tc 600 --games 2 "
        "--ledger {folder}/ledger",
    ),
    "match ratings": Case("{fifo}"),
    "match sprt": Case("1 2 3 2 1", short=True),
    "serve": Case("--address 127.0.0.1:0", ready="listening", status=0),
    "connect": Case("tcp://127.0.0.1:{port} --protocol uci", text="uci\n"),
    "mqtt bot": Case("--name bot --mqtt mqtt://127.0.0.1:{port}", status=0),
    "mqtt watch": Case("--wait 1000 --mqtt mqtt://127.0.0.1:{port}"),
    "lichess": Case("--url http://127.0.0.1:{port} --engine-url http://127.0.0.1:{port}", status=0),
    "train selfplay": Case("{folder}/positions.bin --processes 1"),
    "train data show": SHORT,
    "train data merge": Case("{fifo} -o {folder}/out", short=True),
    "train data shuffle": Case("{fifo} -o {folder}/out", short=True),
    "train data split": Case("{fifo} -o {folder}/one {folder}/two", short=True),
    "train data filter": Case("{fifo} -o {folder}/out", short=True),
    "train data convert": Case("{fifo} -o {folder}/out", short=True),
    "train data check": SHORT,
    "train data statistics": SHORT,
    "train data rescore": Case(
        "{positions} -o {folder}/out --nodes 10000000000 --processes 1 "
        "--engine '{python} -m kempelen uci'"
    ),
    "train fit": Case("{network}"),
    "train tune search": Case("--nodes 10000000000"),
    "train tune evaluation": Case("{positions} -o {folder}/out", short=True),
    "train tune patterns": Case("{fifo} -o {folder}/out", short=True),
    "train tune network": Case("{fifo} -o {folder}/out", short=True),
    "train tune variant": Case("{fifo} --variant crazyhouse -o {folder}/out", short=True),
    "learn show": SHORT,
    "learn merge": Case("{fifo} -o {folder}/out", short=True),
    "learn prune": Case("{fifo} --keep 1", short=True),
    "opponents show": Case("--file {fifo} name", short=True),
    "opponents list": Case("--file {fifo}", short=True),
    "opponents forget": Case("--file {fifo} name", short=True),
    "lab run": Case(OTHELLO),
    "lab play": Case(OTHELLO),
    "lab trace": Case(OTHELLO),
    "lab draw": Case(f"{OTHELLO} -o {{folder}}/tree.svg"),
    "lab plot": Case("--depth 8 --trees 1000 --json"),
    "lab solve": Case("--game othello"),
    "lab figures": Case(short=True),
    "lab learn": Case("--game othello -o {folder}/learned"),
    "lab cfr": Case("--iterations 100000000"),
    "lab max-n": Case("--coins 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 --json", short=True),
    "lab assignment": Case("-o {folder}/assignment", short=True),
    "lab step": Case(f"{OTHELLO} --text"),
    "lab exercise": Case(ready=">|e.g.|for example"),
    "book build": Case("{pgn} -o {folder}/out.bin", short=True),
    "book show": Case("e4", short=True),
    "book merge": Case("{book} -o {folder}/out.bin", short=True),
    "book prune": Case("{book} -o {folder}/out.bin", short=True),
    "book check": Case("--depth 60"),
    "book extend": Case("{book} -o {folder}/out.bin --nodes 10000000000"),
    "tablebase build": Case("--folder {folder} --threads 1"),
    "tablebase probe": Case("'8/8/8/8/8/2k5/8/K1Q5 w - - 0 1'", short=True),
    "tablebase stats": Case("KQK", short=True),
    "tablebase check": Case(short=True),
    "tablebase pack": Case("KQK --target {folder}", short=True),
    "bench": Case("--depth 60"),
    "perft": Case("12"),
    "check-eval": Case("handcrafted --games 100000 --ledger {folder}/ledger"),
    "warmup": Case(),  # with an empty cache
    "doctor": Case(short=True),
}


@cache
def commands() -> list[str]:
    """Return all commands of the command line, with their subcommands."""
    found = [""]
    for name in cli.COMMANDS:
        for path in (name,), *((name, each) for each in cli.SUBCOMMANDS.get(name, ())):
            is_group = path in [(each,) for each in cli.SUBCOMMANDS]
            if not is_group or name in cli.OPTIONAL_SUBCOMMANDS:
                parser = ArgumentParser()
                cli._command_module(path).configure(parser)
                found += [" ".join((*path, *action)) for action in actions_of(parser)]
    return found


def actions_of(parser: ArgumentParser) -> list[tuple[str, ...]]:
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            return [(name,) for name in action.choices]
    return [()]


def test_every_command_has_a_case() -> None:
    assert set(commands()) == set(CASES)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, warm_cache: None) -> dict[str, object]:
    """Files that commands read, by the names that cases use."""
    folder = tmp_path_factory.mktemp("files")
    files = {
        "pgn": folder / "games.pgn",
        "epd": folder / "suite.epd",
        "positions": folder / "positions.bin",
        "network": folder / "network.yaml",
    }
    files["pgn"].write_text('[Event "?"]\n\n1. e4 e5 2. Nf3 Nc6 *\n')
    files["epd"].write_text(f"{chess.Board().epd()} bm e4;\n")
    plan = SelfPlayPlan(SelfPlaySettings(nodes=40), seed=4)
    list(generate(files["positions"], plan, "test", 2000, 1))
    entries = {"data": [str(files["positions"])], "output": str(folder / "out.nnue")}
    files["network"].write_text(yaml.safe_dump({**entries, "neurons": 32, "epochs": 10_000}))
    return {**files, "book": SHIPPED_BOOK, "python": sys.executable}


def is_busy(running: Running, case: Case, server: socket.socket, fifo: Path) -> bool:
    """Return whether a command does what the case is about."""
    if case.short:
        return running.handles_sigterm
    if case.ready:
        return bool(re.search(case.ready, running.output.decode()))
    if "{port}" in case.words:
        return bool(select.select([server], [], [], 0)[0])
    if "{fifo}" in case.words:
        try:
            os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # not open for reading
            return False
        return True
    return running.cpu_time >= WORKING_S


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("command", CASES)
def test_command_ends_soon_after_sigterm(
    start: Callable[..., Running],
    files: dict[str, object],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
    command: str,
) -> None:
    case = CASES[command]
    fifo = tmp_path / "games.pgn"
    os.mkfifo(fifo)
    (tmp_path / "out").mkdir()
    environment = {"LICHESS_API_TOKEN": "lip_token"}
    if command == "warmup":
        environment[CACHE_VARIABLE] = str(tmp_path / "cache")
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        words = case.words.format(
            **files, port=server.getsockname()[1], fifo=fifo, folder=tmp_path / "out"
        )
        running = start(
            *command.split(),
            *shlex.split(words),
            text=case.text,
            environment=environment,
            as_process_1=os.geteuid() == 0 and shutil.which("unshare") is not None,
        )
        assert until(lambda: running.ended or is_busy(running, case, server, fifo))
        assert case.short or not running.ended, running.output
        descendants = running.descendants
        began = time.monotonic()
        if not running.ended:
            running.send(signal.SIGTERM)
        status = running.wait(END_LIMIT_S)
        record_property("seconds", round(time.monotonic() - began, 2))
    assert status == case.status or (case.short and status in (0, 1, 2)), running.output
    assert b"Traceback" not in running.output
    assert until(lambda: not any(map(alive, descendants)))


# What the mechanism consists of.


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> interruption._Interruption:
    """Let a test have its own signals."""
    own = interruption._Interruption()
    monkeypatch.setattr(interruption, "_interruption", own)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)  # restored after the test
    return own


@pytest.mark.parametrize(
    ("number", "is_server", "status"),
    [(signal.SIGTERM, False, 143), (signal.SIGTERM, True, 0), (signal.SIGINT, True, 130)],
)
def test_first_signal_interrupts_and_later_ones_do_not(
    interrupted: interruption._Interruption, number: int, is_server: bool, status: int
) -> None:
    if is_server:
        interruption.run_as_server(0.0)
    with pytest.raises(KeyboardInterrupt):
        interrupted.handle(number, None)
    for later in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
        interrupted.handle(later, None)
    assert interruption.exit_status() == status


def test_interrupted_constructor_prints_no_error_of_its_destructor(
    interrupted: interruption._Interruption, capsys: pytest.CaptureFixture[str]
) -> None:
    class Resource:
        def __init__(self) -> None:
            interrupted.handle(signal.SIGTERM, None)
            self.handle = 1

        def __del__(self) -> None:
            del self.handle

    with pytest.raises(KeyboardInterrupt):
        Resource()
    gc.collect()
    assert capsys.readouterr().err == ""


def test_signal_cancels_a_coroutine_once(interrupted: interruption._Interruption) -> None:
    saved = []

    async def work() -> None:
        asyncio.get_running_loop().call_soon(interrupted.handle, signal.SIGTERM, None)
        try:
            await asyncio.Event().wait()
        finally:
            interrupted.handle(signal.SIGINT, None)
            await asyncio.sleep(0.01)
            saved.append(True)

    with pytest.raises(KeyboardInterrupt):
        interruption.run(work())
    assert saved
    assert interruption.exit_status() == SIGTERM_STATUS


def test_signal_ends_a_long_block_of_a_coroutine(interrupted: interruption._Interruption) -> None:
    steps = []

    async def work() -> None:
        with interruption.interruptible():
            steps.append("begin")
            interrupted.handle(signal.SIGINT, None)
            steps.append("end")

    with pytest.raises(KeyboardInterrupt):
        interruption.run(work())
    assert steps == ["begin"]


def test_signal_after_a_long_block_cancels_the_coroutine(
    interrupted: interruption._Interruption,
) -> None:
    steps = []

    async def work() -> None:
        with interruption.interruptible():
            pass
        interrupted.handle(signal.SIGINT, None)
        steps.append("before")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        steps.append("after")

    with pytest.raises(KeyboardInterrupt):
        interruption.run(work())
    assert steps == ["before"]


def test_run_returns_the_result_of_a_coroutine() -> None:
    async def work() -> int:
        return 3

    assert interruption.run(work()) == 3
    with asyncio.Runner() as runner:
        assert interruption.run(work(), runner.run) == 3


@pytest.mark.parametrize("follows", [True, False])
def test_lock_error_after_an_interruption_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, follows: bool
) -> None:
    def wait(words: list[str]) -> int:
        try:
            if follows:
                raise KeyboardInterrupt
        finally:
            raise RuntimeError("release unlocked lock")

    monkeypatch.setattr(cli, "_run", wait)
    if follows:
        assert cli.main(["perft", "1"]) == 130
    else:
        with pytest.raises(RuntimeError):
            cli.main(["perft", "1"])


@pytest.mark.parametrize("grace", [0.0, 1000.0])
def test_process_ends_after_the_grace_or_a_second_signal(
    interrupted: interruption._Interruption, monkeypatch: pytest.MonkeyPatch, grace: float
) -> None:
    ended: queue.Queue[int] = queue.Queue()
    monkeypatch.setattr(os, "_exit", ended.put)
    monkeypatch.setattr(interruption, "EXIT_TIMEOUT_S", 0.0)
    source, sink = os.pipe()
    watcher = threading.Thread(target=interrupted.enforce, args=(source, [signal.SIGTERM]))
    watcher.start()
    try:
        interruption.run_as_server(grace)
        os.write(sink, bytes([signal.SIGINT, signal.SIGTERM]))  # another signal, and its own
        if grace:
            with pytest.raises(queue.Empty):
                ended.get(timeout=0.1)
            os.write(sink, bytes([signal.SIGTERM]))
        assert ended.get(timeout=PATIENCE) == 0
    finally:
        os.close(sink)
        watcher.join()
        os.close(source)
        for thread in threading.enumerate():
            if isinstance(thread, threading.Timer):
                thread.cancel()


def test_process_ends_although_no_thread_can_be_started(
    interrupted: interruption._Interruption, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    monkeypatch.setattr(interruption, "EXIT_TIMEOUT_S", 0.0)
    monkeypatch.setattr(threading.Timer, "start", Mock(side_effect=RuntimeError))
    source, sink = os.pipe()
    os.write(sink, bytes([signal.SIGTERM]))
    os.close(sink)
    interrupted.enforce(source, [signal.SIGTERM])
    os.close(source)
    assert ended == [SIGTERM_STATUS]


@pytest.mark.parametrize("taken", [True, False])
def test_signal_reaches_the_pipe_once_if_a_loop_has_taken_the_wakeup_descriptor(
    interrupted: interruption._Interruption, taken: bool
) -> None:
    """As asyncio's event loop does on Windows."""
    source, interrupted.sink = os.pipe()
    of_loop, sink_of_loop = os.pipe()
    for descriptor in (interrupted.sink, sink_of_loop):
        os.set_blocking(descriptor, False)
    current = sink_of_loop if taken else interrupted.sink
    before = signal.set_wakeup_fd(current, warn_on_full_buffer=False)
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted.handle(signal.SIGTERM, None)
    finally:
        assert signal.set_wakeup_fd(before) == current
        os.close(interrupted.sink)
    assert os.read(source, 9) == (bytes([signal.SIGTERM]) if taken else b"")
    for descriptor in (source, of_loop, sink_of_loop):
        os.close(descriptor)


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_command_ends_without_standard_streams(
    interrupted: interruption._Interruption, monkeypatch: pytest.MonkeyPatch, closed: str
) -> None:
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    monkeypatch.setattr(sys, closed, None)
    interrupted.signal_number = signal.SIGTERM
    interruption.finish(1)
    assert ended == [SIGTERM_STATUS]


# Processes.


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_four_times_ctrl_c_ends_a_match(start: Callable[..., Running], tmp_path: Path) -> None:
    engine = f"cmd={sys.executable} {FAILING} none,option.Hash=1"
    running = start(
        "match", "--engine", f"{engine},name=A", "--engine", f"{engine},name=B",
        "--nodes", "400", "--games", "4000", "--ledger", str(tmp_path / "ledger"),
    )  # fmt: skip
    assert until(lambda: running.ended or len(running.descendants) >= 4)
    engines = running.descendants
    for _ in range(4):
        if not running.ended:
            running.send(signal.SIGINT)
    assert running.wait(END_LIMIT_S) == 130
    assert b"Traceback" not in running.output
    assert b"KeyboardInterrupt" not in running.output
    assert until(lambda: not any(map(alive, engines)))


# Windows.

Handler = Callable[[int], bool]
CTRL_C_EVENT = 0


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch) -> list[Handler]:
    """Fake a Windows console; return its handlers."""
    handlers: list[Handler] = []
    kernel32 = Mock()
    kernel32.SetConsoleCtrlHandler = lambda handler, add: handlers.append(handler)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "WINFUNCTYPE", lambda *types: lambda f: f, raising=False)
    monkeypatch.setattr(ctypes, "WinDLL", lambda name: kernel32, raising=False)
    monkeypatch.setattr(console_events, "CLOSE_GRACE_S", 0.0)
    return handlers


@pytest.mark.parametrize("event", [console_events.CTRL_BREAK_EVENT, *console_events.CLOSE_EVENTS])
def test_a_console_event_acts_as_sigterm(
    console: list[Handler], monkeypatch: pytest.MonkeyPatch, event: int
) -> None:
    received: list[int] = []
    monkeypatch.setattr(_thread, "interrupt_main", received.append)
    monkeypatch.setattr(signal, "signal", Mock())
    monkeypatch.setattr(signal, "set_wakeup_fd", Mock())
    monkeypatch.setattr(threading, "Thread", Mock())
    interruption.install()
    (handler,) = console
    assert not handler(CTRL_C_EVENT)  # Python's own
    assert handler(event)
    assert received == [signal.SIGTERM]


def has_console() -> bool:
    """Return whether Ctrl-Break can be sent: on Windows with a console, but not under Wine."""
    if sys.platform != "win32":
        return False
    return bool(ctypes.WinDLL("kernel32").GetConsoleProcessList((ctypes.c_uint32 * 1)(), 1))


@pytest.mark.skipif(not has_console(), reason="there is no console of Windows")
def test_ctrl_break_stops_the_server_cleanly() -> None:
    command = [sys.executable, "-m", "kempelen", "serve", "--address", "127.0.0.1:0"]
    group = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, creationflags=group
    ) as server:
        try:
            assert server.stderr is not None
            assert "listening" in server.stderr.readline()
            server.send_signal(getattr(signal, "CTRL_BREAK_EVENT", 0))
            assert "stopped" in server.communicate(timeout=60)[1]
            assert server.returncode == 0
        finally:
            server.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="of other systems")
def test_console_handler_is_unused_outside_windows() -> None:
    console_events.on_console_close(lambda: pytest.fail("called"))


@pytest.mark.skipif(sys.platform == "win32", reason="SIGTERM is not caught there")
@pytest.mark.parametrize("function", ["os.set_blocking", "signal.signal"])
def test_signal_during_installation_ends_the_process(function: str) -> None:
    program = f"""
import os, signal
from kempelen.console import interruption

original = {function}

def interrupted(*arguments, **named):
    os.kill(os.getpid(), signal.SIGTERM)
    return original(*arguments, **named)

{function} = interrupted
try:
    interruption.install()
except KeyboardInterrupt:
    interruption.finish(1)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, timeout=60, check=False
    )
    assert done.stderr == b""
    assert done.returncode in (-signal.SIGTERM, 128 + signal.SIGTERM)
