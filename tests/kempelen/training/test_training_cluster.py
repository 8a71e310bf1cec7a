"""Test self-play and rescoring on a Dask cluster: the same files, even if workers die."""

import contextlib
import importlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.chess.search.selfplay_settings import SelfPlaySettings
from kempelen.training import go_selfplay, selfplay
from kempelen.training.cluster_workers import ClusterWorkers
from kempelen.training.rescoring import RescoreTask
from kempelen.training.selfplay import SelfPlayPlan, generate
from kempelen.training.workers import GamesError
from protocols.client.process import EngineError
from protocols.cluster import client, worker
from protocols.cluster.client import ClusterAddress
from tests import in_process
from tests.dask_cluster import Dask
from tests.waiting import alive, until

pytestmark = [pytest.mark.early, pytest.mark.thorough]

PLAN = SelfPlayPlan(SelfPlaySettings(nodes=30), seed=3)
POSITIONS = 5_000
ENGINE = f"{sys.executable} -m kempelen.cli uci"
# An engine that logs its process id and scores every position; the first 20 at once.
NOTING = """
import os, sys, time
open(os.path.join({folder!r}, str(os.getpid())), "w").close()
asked = 0
for line in sys.stdin:
    if line.startswith("uci\\n"):
        print("id name Noting\\nuciok", flush=True)
    elif line.startswith("isready"):
        print("readyok", flush=True)
    elif line.startswith("go"):
        asked += 1
        time.sleep(0.0 if asked < 20 else 0.05)
        print("info depth 1 score cp 7\\nbestmove e1g1", flush=True)
    elif line.startswith("quit"):
        break
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file made by two processes."""
    path = tmp_path_factory.mktemp("played") / "whole"
    list(generate(path, PLAN, "test", POSITIONS, 2))
    return path


@contextlib.contextmanager
def threads_of(dask: Any, **options: Any) -> Iterator[tuple[ClusterWorkers, list[str]]]:
    """Yield the workers of the cluster, and the messages about them."""
    dask.wait()
    said: list[str] = []
    with ClusterWorkers(ClusterAddress(dask.address, **options), said.append) as threads:
        yield threads, said


def test_killed_and_frozen_workers_do_not_change_file(
    dask: Any, played: Path, tmp_path: Path
) -> None:
    path = tmp_path / "other"
    killed, frozen = dask.workers
    with threads_of(dask, worker_timeout=3) as (threads, said):
        run = generate(path, PLAN, "test", POSITIONS, remote_workers=threads)
        next(run)
        next(run)
        killed.kill()
        dask.add_worker()
        next(run)
        frozen.send_signal(signal.SIGSTOP)
        list(run)
    assert path.read_bytes() == played.read_bytes()
    assert said
    assert all("no heartbeat; games" in line for line in said)


def test_workers_must_have_same_evaluation_file(
    dask: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("def evaluate(board):\n    return len(board.move_stack) + 1\n")
    plan = SelfPlayPlan(SelfPlaySettings(nodes=2, max_plies=40), evaluation="mine.py:evaluate")
    list(generate(tmp_path / "here", plan, "test", 200))
    with threads_of(dask) as (threads, _):
        list(generate(tmp_path / "there", plan, "test", 200, remote_workers=threads))
        assert (tmp_path / "here").read_bytes() == (tmp_path / "there").read_bytes()
        monkeypatch.setattr(selfplay, "evaluation_digest", lambda spec: "another")
        with pytest.raises(GamesError, match=r"^worker tcp://.*mine.py:evaluate: the file differs"):
            list(generate(tmp_path / "third", plan, "test", 200, remote_workers=threads))


def test_worker_with_other_release_is_rejected(
    dask: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dask.wait()
    here, other = worker.installed_version(), "Kempelen 0.0 with the kernel 0"
    monkeypatch.setattr(client, "installed_version", lambda: other)
    done = in_process.run("train", "selfplay", tmp_path / "file", "--cluster", dask.address)
    assert done.returncode == 2
    assert f"has {here}, but this machine has {other} (install" in done.stderr
    assert f"{dask.address}: worker tcp://127.0.0.1:" in done.stderr
    assert not (tmp_path / "file").exists()

    async def unfit(client: Any) -> str:
        return ""

    monkeypatch.setattr(client, "_find_mismatch", unfit)  # as with a worker that connects later
    with (
        ClusterWorkers(ClusterAddress(dask.address), print) as threads,
        pytest.raises(GamesError, match=r"^worker tcp://127\.0\.0\.1:.* is needed .install"),
    ):
        list(generate(tmp_path / "file", PLAN, "test", POSITIONS, remote_workers=threads))


def test_worker_that_cannot_load_the_task_is_reported(
    dask: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scheduler or worker of an older release may lack the module of the task."""
    (tmp_path / "later_release.py").write_text("def run_task(*arguments):\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(client, "run_task", importlib.import_module("later_release").run_task)
    with (
        threads_of(dask) as (threads, _),
        pytest.raises(GamesError, match=r"could not begin games 0 to .*install the same version"),
    ):
        list(generate(tmp_path / "file", PLAN, "test", POSITIONS, remote_workers=threads))


def test_go_games_on_cluster_match_local_games(dask: Any, tmp_path: Path) -> None:
    plan = go_selfplay.GoSelfPlayPlan(size=5, playouts=30, seed=4)
    here, there = tmp_path / "here", tmp_path / "there"
    *_, last = go_selfplay.generate(here, plan, "test", 20, 2)
    assert last == 20
    with threads_of(dask) as (threads, _):
        assert list(go_selfplay.generate(there, plan, "test", 20, remote_workers=threads))[-1] == 20
    assert there.read_bytes() == here.read_bytes()


def test_commands_on_cluster_make_same_files(dask: Any, tmp_path: Path) -> None:
    dask.wait()
    cluster = ("--cluster", dask.address)
    source, here, there = tmp_path / "source", tmp_path / "here", tmp_path / "there"
    made = in_process.run("train", "selfplay", source, "--nodes", 10, "--positions", 1000, *cluster)
    assert made.returncode == 0, made.stderr
    line = (
        "train",
        "data",
        "rescore",
        source,
        "--engine",
        ENGINE,
        "--nodes",
        5,
        "--sample-every",
        9,
    )
    assert in_process.run(*line, "-o", here, "--processes", 1).returncode == 0
    done = in_process.run(*line, "-o", there, *cluster)
    assert (done.returncode, done.stderr) == (0, "")
    assert there.read_bytes() == here.read_bytes()
    there.write_bytes(here.read_bytes()[:-50])
    assert in_process.run(*line, "-o", there, *cluster).returncode == 0
    assert there.read_bytes() == here.read_bytes()


def test_an_interrupted_run_leaves_no_engine_on_the_workers(
    dask: Any, played: Path, tmp_path: Path
) -> None:
    dask.wait()
    notes = tmp_path / "notes"
    notes.mkdir()
    program = tmp_path / "noting.py"
    program.write_text(NOTING.format(folder=str(notes)))
    words = ["train", "data", "rescore", str(played), "-o", str(tmp_path / "out"), "--nodes", "1"]
    words += ["--engine", f"{sys.executable} {program}", "--cluster", dask.address]
    run = subprocess.Popen(
        [sys.executable, "-m", "kempelen.cli", *words], stderr=subprocess.PIPE, text=True
    )
    assert until(lambda: len(list(notes.iterdir())) == 3)  # a process of this machine, by name
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 130
    assert said == "kempelen train data: interrupted; run the same command again to continue\n"
    assert until(lambda: not any(alive(int(note.name)) for note in notes.iterdir()))
    assert all(worker.poll() is None for worker in dask.workers)


def test_engine_with_other_name_is_rejected(tmp_path: Path) -> None:
    program = tmp_path / "noting.py"
    program.write_text(NOTING.format(folder=str(tmp_path)))
    task = RescoreTask(tmp_path, f"{sys.executable} {program}", 1, engine="Stockfish 17")
    with pytest.raises(EngineError, match=r"wrong engine Noting .expected Stockfish 17"):
        task.start()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--cluster", "tcp://127.0.0.1:1"], "cluster tcp://127.0.0.1:1: "),
        (["--cluster", "nowhere"], "cluster nowhere: "),
        (["--cluster", "http://127.0.0.1:1"], "cluster http://127.0.0.1:1: "),
        (["--cluster", "tls://127.0.0.1:1", "--cluster-ca", "no.pem"], "file not found: no.pem"),
        (["--cluster", "tcp://127.0.0.1:1", "--cluster-ca", __file__], "cluster tcp://"),
        (["--cluster-ca", "no.pem"], "require --cluster"),
    ],
)
def test_unreachable_or_invalid_cluster_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], reason: str
) -> None:
    monkeypatch.setattr(client, "CONNECT_TIMEOUT_S", 1.0)
    done = in_process.run("train", "selfplay", tmp_path / "file", *words)
    assert done.returncode == 2
    assert done.stderr.startswith("kempelen train selfplay: ")
    assert done.stderr.count("\n") == 1
    assert reason in done.stderr
    assert not (tmp_path / "file").exists()


def test_cluster_without_workers_is_reported(tmp_path: Path, clusters: list[Any]) -> None:
    empty = Dask(tmp_path, workers=0)
    clusters.insert(0, empty)  # to be closed
    done = in_process.run("train", "selfplay", tmp_path / "file", "--cluster", empty.address)
    assert done.returncode == 2
    assert "no workers" in done.stderr


def test_scheduler_death_stops_run_that_can_be_resumed(
    dask: Any, played: Path, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    with threads_of(dask) as (threads, _):
        run = generate(path, PLAN, "test", POSITIONS, remote_workers=threads)
        next(run)
        next(run)
        dask.processes[0].kill()
        with pytest.raises(GamesError, match=r"cluster tcp://.*: scheduler lost"):
            list(run)
    assert 0 < path.stat().st_size < played.stat().st_size
    list(generate(path, PLAN, "test", POSITIONS, 2))
    assert path.read_bytes() == played.read_bytes()
