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

from kempelen.cli import COMMANDS, SUBCOMMANDS, main
from tests.docker.buildah import Buildah, call
from tests.docker.compose import Composition
from tests.docker.network import Network
from tests.systems import module_or_skip
from tests.waiting import PATIENCE, free_port, listens, until

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "compose.yaml"
GO = ROOT / "docker" / "go.yaml"
# Python's image and Mosquitto's, of Debian's packages.
PACKAGES = ["python3", "python3-venv", "ca-certificates", "mosquitto", "netcat-openbsd"]
MOSQUITTO = "docker.io/library/eclipse-mosquitto:2"
BROKER = ["mosquitto", "-c", "/mosquitto/config/mosquitto.conf"]

# Words of each command, with which it runs until it is told to end, if it ever does.
LONG_COMMANDS = {
    "uci": "uci",
    "xboard": "xboard",
    "gtp": "gtp",
    "web": "web --no-browser --address 127.0.0.1:0",
    "analyse": "analyse long.pgn --nodes 1000000000",
    "katago-analysis": "katago-analysis",
    "suite": "suite long.epd --movetime 600",
    "match": "match --engine agent=chess,name=A --engine agent=chess,name=B --tc 600 --games 2",
    "match ratings": "match ratings long.pgn",
    "match sprt": "match sprt 100 50 20",
    "serve": "serve --address 127.0.0.1:0",
    "connect": "connect tcp://127.0.0.1:1 --timeout 600",
    "mqtt bot": "mqtt bot --name a --engine agent=chess --mqtt mqtt://127.0.0.1:1",
    "mqtt watch": "mqtt watch --wait 600 --mqtt mqtt://127.0.0.1:1",
    "lichess": "lichess --token-file token --url http://127.0.0.1:1",
    "train selfplay": "train selfplay positions.bin --positions 10000000",
    "train data": "train data info positions.bin",
    "train fit": "train fit missing.yaml",
    "train tune": "train tune search --pairs 100000",
    "learn": "learn show missing",
    "opponents": "opponents list --file missing",
    "lab": "lab learn connect_four --steps 100000 -o learned",
    "book": "book build long.pgn -o long.bin",
    "tablebase": "tablebase build --folder tables",
    "bench": "bench --depth 60",
    "perft": "perft 12",
    "check-eval": "check-eval long_eval.py:evaluate --tc 600",
    "warmup": "warmup",
    "doctor": "doctor",
}
LONG_FILES = {
    "long.pgn": '[Event "A"]\n\n' + " ".join("Nf3 Nf6 Ng1 Ng8" for _ in range(100)) + " *\n",
    "long.epd": "".join(f"{chess.STARTING_BOARD_FEN} w - - bm e4;\n" for _ in range(50)),
    "long_eval.py": "def evaluate(board):\n    return len(board.piece_map())\n",
    "token": "lip_token\n",
}

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
def full(built):
    """A container of the image with all extras."""
    buildah, _, _ = built
    return buildah.build("localhost/base", ROOT, "full").container()


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


def test_unknown_user_without_home_folder_can_play_and_store_games(image):
    container = image.container()  # in which no other user has stored anything
    output = container.run(*image.line("doctor"), user="12345:12345")
    assert "nothing is broken" in output
    assert "warning: " not in output, output
    match = ("match", "--engine", "agent=chess,name=A", "--engine", "agent=chess,name=B")
    line = image.line(*match, "--nodes", "100", "--games", "2", "--pgn", "unknown.pgn")
    output = container.run(*line, user="12345:12345")
    assert "distinct games of 2" in output
    assert "error" not in output.lower()
    assert (container.root() / "data" / "kempelen" / "tables" / "KQK.dtm").exists()


def test_messages_of_the_image_say_how_to_build_one_with_more_extras(image, container):
    line = image.line("connect", "ws://127.0.0.1:1", "--timeout", "5")
    assert "docker build --build-arg EXTRAS=mqtt,server ." in failed(container.command(*line))
    doctor = container.run(*image.line("doctor"))
    assert "not web" in doctor
    assert "pip" not in doctor


def test_full_image_has_all_extras(image, full):
    doctor = full.run(*image.line("doctor"))
    assert "not dev" in doctor
    for extra in ("broker", "cluster", "gtp", "lab", "mqtt", "server", "train", "web"):
        assert f"not {extra}" not in doctor


def test_health_check_asks_the_server(image, full):
    kind, check = image.healthcheck
    assert kind == "CMD-SHELL"
    port = free_port()
    health = {"KEMPELEN_HEALTH_URL": f"http://127.0.0.1:{port}/health"}
    command = full.command("sh", "-c", check, environment=health)
    assert subprocess.run(command, capture_output=True, timeout=60).returncode != 0
    full.run("sh", "-c", check)
    web = ("web", "--no-browser", "--insecure", "--address", f"0.0.0.0:{port}")
    server = start(full.command(*image.line(*web)))
    try:
        assert until(lambda: listens(port))
        full.run("sh", "-c", check, environment=health)
    finally:
        end(server)


def test_every_command_is_ended_below():
    nested = {f"{name} {each}" for name, those in SUBCOMMANDS.items() for each in those}
    single = {name for name in COMMANDS if name not in ("mqtt", "train")}
    assert LONG_COMMANDS.keys() == single | nested


@pytest.mark.parametrize("command", LONG_COMMANDS)
def test_every_command_ends_on_sigterm_as_process_1(image, full, command, record_property):
    """Container engines send SIGTERM, and kill after 10 s. Process 1 has no default handlers."""
    for name, text in LONG_FILES.items():
        (full.root() / "data" / name).write_text(text)
    line = image.line(*LONG_COMMANDS[command].split())
    with subprocess.Popen(
        full.command(*line, as_process_1=True), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            assert until(lambda: process.poll() is not None or catches_sigterm(process.pid))
            with suppress(subprocess.TimeoutExpired):  # let it begin
                process.wait(3.0)
            began = time.perf_counter()
            if (number := process_1_of(process.pid)) is not None:
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGTERM)
            process.wait(PATIENCE)
            record_property("seconds", took := round(time.perf_counter() - began, 2))
            assert took < 5.0  # 2 s on a machine that is not busy
        finally:
            end(process)


def process_1_of(ancestor):
    """Return the id of the first process in another namespace that a process has started."""
    parents, found = {}, []
    for path in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError):
            entries = dict(row.split(":", 1) for row in path.read_text().splitlines())
            number = int(entries["Pid"])
            parents[number] = int(entries["PPid"])
            if len(ids := entries["NSpid"].split()) > 1 and ids[-1] == "1":
                found.append(number)
    for number in found:
        above = number
        while above in parents:
            above = parents[above]
            if above == ancestor:
                return number
    return None


def catches_sigterm(ancestor):
    number = process_1_of(ancestor)
    if number is None:
        return False
    with suppress(OSError):
        caught = re.search(r"^SigCgt:\s*(\w+)$", Path(f"/proc/{number}/status").read_text(), re.M)
        return bool(int(caught[1], 16) >> signal.SIGTERM - 1 & 1)
    return False


def failed(command):
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.returncode != 0
    return run.stdout + run.stderr


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
