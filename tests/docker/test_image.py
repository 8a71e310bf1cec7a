"""The image, built from the clone by the Dockerfile, and what compose.yaml makes of it."""

import os
import re
import signal
import struct
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import chess
import chess.engine
import pytest

from kempelen.cli import main
from tests.docker.buildah import Buildah, call
from tests.docker.compose import Composition
from tests.docker.network import Network
from tests.systems import module_or_skip
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "compose.yaml"
GO = ROOT / "docker" / "go.yaml"
# Python's image and Mosquitto's, of Debian's packages.
PACKAGES = ["python3", "python3-venv", "ca-certificates", "mosquitto", "netcat-openbsd"]
MOSQUITTO = "docker.io/library/eclipse-mosquitto:2"
BROKER = ["mosquitto", "-c", "/mosquitto/config/mosquitto.conf"]

fcntl, pty, termios = map(module_or_skip, ("fcntl", "pty", "termios"))


@pytest.fixture(scope="module")
def built(request):
    if not request.config.getoption("--image"):
        pytest.skip("builds an image: make image")
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("building an image needs root")
    buildah = Buildah()
    try:
        base, debian = buildah.make_base(PACKAGES)
        image = buildah.build(base, ROOT)
        yield buildah, debian, image
    finally:
        buildah.remove()


@pytest.fixture(scope="module")
def image(built):
    return built[2]


@pytest.fixture(scope="module")
def container(image):
    return image.container()


def test_image_starts_without_compiling_code(image, container):
    line = image.line()
    run = subprocess.run(
        container.command(*line, environment={"PYTHONVERBOSE": "1"}),
        input="uci\nisready\ngo nodes 1000\n", capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert "readyok" in run.stdout
    assert "bestmove" in run.stdout
    assert "# bytecode is stale" not in run.stderr
    sources = re.findall(r"^# code object from (/.*)", run.stderr, re.MULTILINE)
    assert sources == []
    assert len(re.findall(r"^# code object from '/", run.stderr, re.MULTILINE)) > 100
    assert "kernel loaded from /opt/kempelen/cache/" in container.run(*image.line("warmup"))


def test_image_plays_game_as_unprivileged_user(image, container, record_property):
    assert container.run("id", "-u") == image.config["User"] == "10001"
    command = container.command(*image.line())
    began = time.perf_counter()
    with chess.engine.SimpleEngine.popen_uci(command, timeout=60) as engine:
        record_property("uciok", round(time.perf_counter() - began, 2))
        engine.ping()
        record_property("readyok", round(time.perf_counter() - began, 2))
        board = chess.Board()
        while not board.is_game_over(claim_draw=True) and board.ply() < 300:
            move = engine.play(board, chess.engine.Limit(nodes=2000), game="one").move
            assert move in board.legal_moves
            board.push(move)
    assert board.ply() > 20


def test_commands_give_same_results_in_container(image, container, capsys):
    line = ["bench", "--depth", "5"]
    assert main(line) == 0
    nodes = capsys.readouterr().out.split()[0]
    assert container.run(*image.line(*line)).split()[0] == nodes
    match = container.run(
        *image.line("match", "--engine", "agent=chess,name=A", "--engine", "cmd=kempelen,name=B"),
        *("--nodes", "1000", "--games", "2", "--pgn", "games.pgn"),
    )  # fmt: skip
    assert "distinct games of 2" in match
    assert (container.root() / "data" / "games.pgn").read_text().count("[Event ") == 2


def test_image_is_small(image):
    """Debian's base included, with its packages of Python and Mosquitto."""
    assert image.megabytes < 520


@pytest.mark.parametrize(
    ("files", "records", "game"),
    [((COMPOSE,), "match.pgn", "[Event "), ((COMPOSE, GO), "go.json", '"pair"')],
)
def test_compose_runs_complete_match(built, container, tmp_path, monkeypatch, files, records, game):
    buildah, debian, image = built
    debian.run("install", "-d", "-o", "mosquitto", "/mosquitto/config", "/mosquitto/data")
    # Mosquitto's image stands for its program, which Debian has too.
    containers = {MOSQUITTO: debian, "kempelen": container}
    composition = Composition(files, tmp_path, containers)

    def command(service):
        return composition.command(service, image.entrypoint, image.config["User"])

    running = {}
    with Network() as network:
        monkeypatch.setattr(buildah, "prefix", network.prefix)
        call(*composition.command("credentials", []))
        try:
            running["broker"] = start(composition.command("broker", BROKER))
            wait_for(composition.healthcheck("broker"))
            for bot in ("white", "black"):
                running[bot] = start(command(bot))
            screen = Screen(command("watcher"))
            running["watcher"] = screen.process
            running["runner"] = start(command("runner"))
            output, _ = running["runner"].communicate(timeout=240)
            assert running["runner"].returncode == 0, output
            assert running["watcher"].wait(30) == 0, screen.text()
            assert "4/4" in screen.text()
            assert (tmp_path / "records" / records).read_text().count(game) == 4
            assert set(running) == composition.services.keys() - {"credentials"}
        finally:
            for process in running.values():
                end(process)


def start(command):
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, start_new_session=True,
    )  # fmt: skip


def end(process):
    """End what was started, with all its children."""
    for sent in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, sent)
            with suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
    if process.stdout:
        process.stdout.close()


def wait_for(check):
    deadline = time.monotonic() + 30
    while subprocess.run(check, capture_output=True, timeout=60).returncode != 0:
        assert time.monotonic() < deadline, "the broker does not listen"
        time.sleep(0.2)


class Screen:
    """A program on a terminal, and what it shows there."""

    def __init__(self, command):
        self._end, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 40, 100, 0, 0))
        self.process = subprocess.Popen(
            command, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True
        )
        os.close(terminal)
        self._shown = b""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        with suppress(OSError):  # the last program has left the terminal
            while chunk := os.read(self._end, 1 << 16):
                self._shown += chunk
        os.close(self._end)

    def text(self):
        """Return all that was shown till the end of the program, without its escape codes."""
        self._reader.join(30)
        return re.sub(r"\x1b\[[\d;?]*\w", "", self._shown.decode(errors="replace"))
