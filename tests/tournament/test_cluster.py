"""The same tournament on a Dask cluster: a real scheduler and real workers, as processes."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.tournament.support import engine, play, play_with, settings
from tournament.cluster import Cluster
from tournament.engine_settings import EngineSettings
from tournament.events import GameFinished, MovePlayed, Notice, Status
from tournament.runner import RunStoppedError
from tournament.settings import Adjudication
from tournament.values import SettingsError
from tournament.verdicts import Termination

pytestmark = pytest.mark.early

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
OPTIONS = ["--no-dashboard"]


class Dask:
    """A scheduler and workers of one thread each on the loopback address."""

    def __init__(self, folder, workers=2):
        self._folder = folder
        file = folder / "scheduler.json"
        self.processes = [self._start("scheduler", "--port", "0", "--scheduler-file", str(file))]
        deadline = time.monotonic() + 30
        while not (file.exists() and file.stat().st_size):
            assert time.monotonic() < deadline, "no scheduler"
            time.sleep(0.05)
        self.address = json.loads(file.read_text())["address"]
        self.workers = [self.add_worker() for _ in range(workers)]

    @property
    def alive(self):
        """Whether there is a scheduler."""
        return self.processes[0].poll() is None

    def restore(self):
        """Have two workers again that answer, after what a test has done."""
        for worker in self.workers:
            if worker.poll() is None and state_of(worker) == "T":
                worker.kill()
                worker.wait()
        living = [worker for worker in self.processes[1:] if worker.poll() is None]
        self.workers = living + [self.add_worker() for _ in range(2 - len(living))]

    def add_worker(self):
        worker = self._start(
            "worker", self.address, "--nthreads", "1", "--no-nanny",
            "--local-directory", str(self._folder),
        )  # fmt: skip
        self.processes.append(worker)
        return worker

    def close(self):
        for process in self.processes:
            process.send_signal(signal.SIGCONT)
            process.kill()
        for process in self.processes:
            process.wait()

    def _start(self, kind, *arguments):
        line = [sys.executable, "-m", "distributed.cli.dask_" + kind, "--host", "127.0.0.1"]
        environment = {**os.environ, "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__GIL__ENABLED": "0"}
        return subprocess.Popen([*line, *OPTIONS, *arguments], env=environment, **QUIET)


def state_of(process):
    """How the system has a process: T if it is stopped."""
    return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.fixture(scope="module")
def clusters():
    """The clusters that were started, of which the last may be used again."""
    if sys.platform != "linux":
        pytest.skip("stops workers by POSIX signals, and reads /proc")
    started = []
    yield started
    for dask in started:
        dask.close()


@pytest.fixture
def dask(clusters, tmp_path_factory):
    if not clusters or not clusters[-1].alive:
        clusters.append(Dask(tmp_path_factory.mktemp("dask")))
    yield clusters[-1]
    if clusters[-1].alive:
        clusters[-1].restore()


async def connect(chosen, dask, workers=2, **options):
    for _ in range(600):
        try:
            workplace = await Cluster.connect(chosen, dask.address, **options)
        except SettingsError:
            await asyncio.sleep(0.1)
            continue
        if workplace.boards >= workers:
            return workplace
        await workplace.close()
        await asyncio.sleep(0.1)
    raise TimeoutError("the workers do not come")


async def begin(chosen, workplace):
    """Start a tournament; return it, and the list of its events, when a game is finished."""
    events = []
    finished = asyncio.Event()

    def listen(event):
        events.append(event)
        if isinstance(event, GameFinished):
            finished.set()

    running = asyncio.create_task(play_with(chosen, workplace, listeners=[listen]))
    await asyncio.wait_for(finished.wait(), 60)
    return running, events


def moves_of(records):
    return {(r.pair, r.game): (r.result, [m.move for m in r.moves]) for r in records}


async def test_workers_that_are_killed_and_frozen_cost_only_time(dask):
    chosen = settings(engine(), engine("no-info"), games=12, adjudication=Adjudication(maxmoves=12))
    running, events = await begin(chosen, await connect(chosen, dask, silence=3))
    dask.workers[0].kill()
    dask.workers[1].send_signal(signal.SIGSTOP)
    dask.add_worker()
    finish, records = await asyncio.wait_for(running, 120)
    assert finish.status is Status.COMPLETE
    assert len(records) == 12
    alone, alone_records = await play(chosen)
    assert moves_of(records) == moves_of(alone_records)
    assert finish.summary.comparison == alone.summary.comparison
    assert any(isinstance(event, MovePlayed) for event in events)
    assert any(isinstance(event, Notice) and "silent" in event.text for event in events)


async def test_a_scheduler_that_dies_ends_the_run_with_a_message(dask):
    chosen = settings(engine(), engine("no-info"), games=24, adjudication=Adjudication(maxmoves=12))
    running, _ = await begin(chosen, await connect(chosen, dask))
    dask.processes[0].kill()
    with pytest.raises(RunStoppedError, match="scheduler is gone"):
        await asyncio.wait_for(running, 120)


async def test_a_pair_that_kills_its_workers_is_recorded_as_lost(dask, tmp_path):
    killer = tmp_path / "killer.py"
    # The parent of the engine's supervisor is the worker: it takes it along.
    killer.write_text(
        "import os, signal\n"
        "parent = open(f'/proc/{os.getppid()}/stat').read().rpartition(')')[2].split()[1]\n"
        "os.kill(int(parent), signal.SIGKILL)\n"
    )
    bad = EngineSettings(command=sys.executable, arguments=(str(killer),), name="killer")
    chosen = settings(engine(), bad, games=2, adjudication=Adjudication(maxmoves=8))
    workplace = await connect(chosen, dask)

    async def replace_the_dead():
        while True:
            await asyncio.sleep(0.1)
            for index, worker in enumerate(dask.workers):
                if worker.poll() is not None:
                    dask.workers[index] = dask.add_worker()

    replacing = asyncio.create_task(replace_the_dead())
    finish, records = await asyncio.wait_for(play_with(chosen, workplace), 120)
    replacing.cancel()
    assert [r.termination for r in records] == [Termination.WORKER_LOST] * 2
    assert [r.result for r in records] == ["*", "*"]
    assert finish.status is Status.FAILED


async def test_mistakes_are_told(dask):
    bad = EngineSettings(command="no-such-engine", name="absent")
    chosen = settings(engine(), bad)
    workplace = await connect(chosen, dask)
    with pytest.raises(SettingsError, match="no-such-engine"):
        await play_with(chosen, workplace)


async def test_a_cluster_that_is_not_there(monkeypatch):
    monkeypatch.setattr("tournament.cluster.CONNECT_LIMIT", 1.0)
    with pytest.raises(SettingsError, match=r"cluster tcp://127\.0\.0\.1:1"):
        await Cluster.connect(settings(engine(), engine()), "tcp://127.0.0.1:1")
