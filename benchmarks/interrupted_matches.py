"""Matches whose surroundings are taken away at random and given back: no game may be lost.

    python benchmarks/interrupted_matches.py --matches 50

Each match has 20 games of Stockfish at fixed nodes: on this machine, on a Dask cluster of this
machine, or between two MQTT bots. Meanwhile an engine's file, the disk, the terminal, the process,
the ledger, the file of games, the broker or a worker is taken away for 0.2 to 4 seconds. A run that
ends is resumed. In the end, each game must be in the ledger once, with a result that comes from
play, and the PGN must equal the ledger. The script needs Linux, Mosquitto and Dask.
"""

import argparse
import contextlib
import fcntl
import json
import os
import pty
import random
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from broker_restarts import BOTS, broker_config, kempelen
from harness import KEMPELEN, parser, show, show_progress, spawn, stockfish

from kempelen.match.game.game_result import Termination
from kempelen.match.rating.standings import FAILURES
from kempelen.match.records.game_record import to_pgn
from kempelen.match.records.ledger import Ledger, saved_settings

OUTAGE_S = 0.2, 4.0
PAUSE_S = 0.5, 3.0  # between two outages
# Limits against hangs.
START_LIMIT_S = 60.0
MATCH_LIMIT_S = 240.0
# Results that do not come from play.
NOT_PLAYED = FAILURES | {Termination.WORKER_LOST}
DASK = [sys.executable, "-m", "dask"]
FILES = "ledger", "games"
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class Surroundings:
    """What the matches use: an engine's file, a broker with two bots, and a cluster."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.engine = folder / "engine"
        self.engine.write_text(f"#!/bin/sh\nexec {stockfish(required=True)}\n")
        self.engine.chmod(0o755)
        self.broker_url = self.scheduler = ""
        self._broker: subprocess.Popen[bytes] | None = None
        self._workers: list[subprocess.Popen[bytes]] = []

    def start_broker_and_bots(self) -> None:
        if self.broker_url:
            return
        self._config, self.broker_url = broker_config(self.folder, persistent=False)
        self.start_broker()
        engine = f"cmd={stockfish(required=True)}"
        for bot in BOTS:
            log = self.folder / f"{bot}.log"
            words = ("--name", bot, "--engine", engine, "--mqtt", self.broker_url)
            kempelen("mqtt", "bot", *words, log=log)
            wait_for(lambda log=log: "online on" in log.read_text())

    def start_broker(self) -> None:
        program = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
        self._broker = spawn([program, "-c", self._config], **QUIET)

    def kill_broker(self) -> None:
        self._broker.kill()
        self._broker.wait()

    def start_cluster(self) -> None:
        if self.scheduler:
            return
        file = self.folder / "scheduler.json"
        words = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
        spawn([*DASK, "scheduler", *words, "--scheduler-file", str(file)], **QUIET)
        wait_for(lambda: file.exists() and file.stat().st_size)
        self.scheduler = json.loads(file.read_text())["address"]
        for _ in range(2):
            self.start_worker()

    def start_worker(self) -> None:
        words = ["--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        words += ["--local-directory", str(self.folder)]
        self._workers.append(spawn([*DASK, "worker", self.scheduler, *words], **QUIET))

    def kill_worker(self) -> None:
        worker = self._workers.pop(0)
        worker.kill()
        worker.wait()


class Run:
    """A process that plays or resumes a match, with a terminal of its own."""

    def __init__(self, command: list[str]) -> None:
        self._terminal, other = pty.openpty()
        self.output = b""
        self.process = spawn(
            command,
            stdin=other, stdout=other, stderr=other, start_new_session=True,
            preexec_fn=partial(fcntl.ioctl, 0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        os.close(other)

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None

    def watch(self, seconds: float) -> bool:
        """Read the output until the time is over or the run has ended. Return whether it has."""
        deadline = time.monotonic() + seconds
        while not self.ended and time.monotonic() < deadline:
            self._read(0.02)
        return self.ended

    def close_terminal(self) -> None:
        if self._terminal >= 0:
            self._read(0)
            os.close(self._terminal)
            self._terminal = -1

    def set_disk_full(self, full: bool) -> None:
        """Let the process write nothing to files, or as much as before."""
        with contextlib.suppress(ProcessLookupError):  # it has ended
            hard = resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE)[1]
            limits = (0 if full else hard, hard)
            resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, limits)

    def _read(self, seconds: float) -> None:
        if self._terminal < 0:
            time.sleep(seconds)
        elif select.select([self._terminal], [], [], seconds)[0]:
            try:
                self.output += os.read(self._terminal, 1 << 16)
            except OSError:  # the process has closed its end
                time.sleep(seconds)


@dataclass
class Match:
    """A match, and what happened to it."""

    kind: str
    folder: Path
    command: list[str]
    faults: list[str]
    runs: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)
    output: bytes = b""
    games_at_start: int = 0

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger"

    @property
    def pgn(self) -> Path:
        return self.folder / "games.pgn"

    @property
    def games_in_pgn(self) -> int:
        return self.pgn.read_bytes().count(b"[Event ") if self.pgn.exists() else 0

    def start(self) -> Run:
        self.runs += 1
        self.games_at_start = self.games_in_pgn
        return Run([*self.command, "--ledger", str(self.ledger), "--pgn", str(self.pgn)])


KINDS = {
    "on this machine": ("engine", "disk", "terminal", "process", "ledger", "games"),
    "with bots": ("broker", "disk", "terminal", "process", "ledger"),
    "on a cluster": ("worker", "engine", "terminal", "process", "games"),
}


def make_match(number: int, surroundings: Surroundings, options: argparse.Namespace) -> Match:
    generator = random.Random(f"{options.seed}/{number}")
    kind = list(KINDS)[number % len(KINDS)]
    faults = generator.sample(KINDS[kind], min(options.faults, len(KINDS[kind])))
    command = [*KEMPELEN, "match", "--resume", "--seed", str(number), "--nodes", str(options.nodes)]
    command += ["--games", str(options.games), "--maxmoves", "40"]
    if kind == "with bots":
        surroundings.start_broker_and_bots()
        command += [word for bot in BOTS for word in ("--engine", f"cmd={bot},proto=mqtt")]
        command += ["--mqtt", surroundings.broker_url, "--concurrency", "2"]
    else:
        engine = f"cmd={surroundings.engine},option.Hash=1,restart=on"
        command += ["--engine", f"{engine},name=A", "--engine", f"{engine},name=B"]
        command += ["--concurrency", "2"]
    if kind == "on a cluster":
        surroundings.start_cluster()
        command += ["--cluster", surroundings.scheduler]
    folder = surroundings.folder / f"match-{number}"
    folder.mkdir()
    return Match(kind, folder, command, faults)


def remove(*files: Path) -> None:
    for file in files:
        file.unlink(missing_ok=True)


@contextlib.contextmanager
def outage(fault: str, match: Match, run: Run, surroundings: Surroundings) -> Iterator[None]:
    """Take something away, and give it back after the block."""
    away = surroundings.engine.with_name("away")
    take: Callable[[], object]
    give: Callable[[], object] = remove  # nothing
    if fault == "engine":
        take = partial(surroundings.engine.rename, away)
        give = partial(away.rename, surroundings.engine)
    elif fault == "disk":
        take, give = partial(run.set_disk_full, True), partial(run.set_disk_full, False)
    elif fault == "terminal":
        take = run.close_terminal
    elif fault == "process":
        take = partial(run.process.send_signal, signal.SIGKILL)
    elif fault == "ledger":
        take = partial(remove, *match.folder.glob("ledger*"))
        give = partial(run_until, run, match.ledger.exists)
    elif fault == "games":
        take = partial(remove, match.pgn)
        give = partial(run_until, run, match.pgn.exists)
    elif fault == "broker":
        take, give = surroundings.kill_broker, surroundings.start_broker
    else:
        take, give = surroundings.kill_worker, surroundings.start_worker
    take()
    try:
        yield
    finally:
        give()


def run_until(run: Run, true: Callable[[], bool]) -> None:
    """Wait until a run has written something again, or has ended."""
    deadline = time.monotonic() + START_LIMIT_S
    while not true() and not run.watch(0.05) and time.monotonic() < deadline:
        pass


def wait_for(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while not true():
        if time.monotonic() > deadline:
            raise SystemExit("the surroundings do not start")
        time.sleep(0.05)


def may_remove_files(match: Match, options: argparse.Namespace) -> bool:
    """Return whether the run is in the middle, so that it can write its files again."""
    return match.games_at_start < match.games_in_pgn < options.games - 4


def play(match: Match, surroundings: Surroundings, options: argparse.Namespace) -> None:
    """Play a match to its end, through all of its faults."""
    generator = random.Random(f"{options.seed}/{match.folder.name}")
    began = time.monotonic()
    faults = list(match.faults)
    run = match.start()
    run_until(run, match.pgn.exists)
    while time.monotonic() - began < MATCH_LIMIT_S:
        if not run.watch(generator.uniform(*PAUSE_S)):
            if faults and (faults[0] not in FILES or may_remove_files(match, options)):
                with outage(faults.pop(0), match, run, surroundings):
                    run.watch(generator.uniform(*OUTAGE_S))
            continue
        match.output += run.output
        run.close_terminal()
        if run.process.returncode == 0:
            break
        run = match.start()
        run_until(run, match.pgn.exists)
    else:
        match.problems.append(f"not finished after {MATCH_LIMIT_S:.0f} s")
        run.process.kill()
        run.process.wait()
        match.output += run.output
        run.close_terminal()
    del match.faults[len(match.faults) - len(faults) :]
    match.seconds = time.monotonic() - began


def check(match: Match, games: int) -> None:
    """Compare the ledger with what was planned, and the PGN with the ledger."""
    for text in ("Traceback", "internal error"):
        if text.encode() in match.output:
            match.problems.append(f"the output has {text!r}")
    ledger = Ledger(str(match.ledger))
    try:
        settings = saved_settings(str(match.ledger))
        ledger.begin(settings, resume=True)
        records = list(ledger.records())
    finally:
        ledger.close()
    if len(records) != games:
        match.problems.append(f"{len(records)} games of {games}")
    not_played = Counter(str(r.termination) for r in records if r.termination in NOT_PLAYED)
    not_played.update(r.result for r in records if r.result == "*")
    match.problems += [f"{count} games: {name}" for name, count in not_played.items()]
    if match.pgn.read_text("utf-8") != "".join(to_pgn(r, settings.name) for r in records):
        match.problems.append("the PGN differs from the ledger")
    known = {"ledger", "ledger.lock", "games.pgn", "games.pgn.lock"}
    left = sorted({file.name for file in match.folder.iterdir()} - known)
    if left:
        match.problems.append(f"left behind: {', '.join(left)}")


def report(matches: list[Match], options: argparse.Namespace) -> None:
    rows = []
    for kind in KINDS:
        own = [match for match in matches if match.kind == kind]
        counts = Counter(fault for match in own for fault in match.faults)
        rows.append(
            (
                kind,
                len(own),
                len(own) * options.games,
                ", ".join(f"{fault} {count}" for fault, count in sorted(counts.items())),
                sum(match.runs - 1 for match in own),
                sum(match.seconds for match in own),
                sum(bool(match.problems) for match in own),
            )
        )
    columns = ("matches", "count", "games", "taken away", "resumed", "seconds", "wrong")
    show("interrupted matches", columns, rows, options.json)


def main() -> int:
    """Play and check the matches. Return 1 if one of them is wrong."""
    arguments = parser(__doc__)
    arguments.add_argument("--matches", type=int, default=50)
    arguments.add_argument("--games", type=int, default=20, help="games of a match")
    arguments.add_argument("--faults", type=int, default=3, help="faults during a match")
    arguments.add_argument("--nodes", type=int, default=1500, help="nodes per move")
    arguments.add_argument("--first", type=int, default=0, help="number of the first match")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--keep", action="store_true", help="keep the files of wrong matches")
    options = arguments.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="kempelen-matches-"))
    surroundings = Surroundings(folder)
    matches = []
    for number in range(options.first, options.first + options.matches):
        match = make_match(number, surroundings, options)
        matches.append(match)
        show_progress(f"match {number}, {match.kind}: {', '.join(match.faults)}")
        play(match, surroundings, options)
        check(match, options.games)
        if match.problems:
            (match.folder / "output").write_bytes(match.output)
            print(f"match {number}, {match.kind}, {match.faults}: {'; '.join(match.problems)}")
    report(matches, options)
    wrong = any(match.problems for match in matches)
    if wrong and options.keep:
        print(f"files: {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
