"""Tournaments on a Dask cluster, with real scheduler and worker processes."""

import asyncio
import json
import os
import signal
import sys
from dataclasses import replace
from types import SimpleNamespace

import chess
import pytest

from kempelen import cli
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineSettings, Restart
from kempelen.match.config.settings import Adjudication
from kempelen.match.dask_executor import DaskExecutor, play_pair
from kempelen.match.game.game_result import Termination
from kempelen.match.game.openings import Opening
from kempelen.match.live.events import GameFinished, MovePlayed, Notice, Status
from kempelen.match.pairing.pairs import Pair, PairKey
from kempelen.match.tuning.spsa import Spsa, TunableParameter
from kempelen.match.tuning.tuning import play_trial, tune, tuning_players
from protocols import tasks
from protocols.cluster.client import ClusterAddress, ClusterClient, worker_note
from protocols.cluster.errors import WorkersLostError
from tests.kempelen.match.support import engine, play, play_with, settings
from tests.support import failing
from tests.waiting import PATIENCE

pytestmark = pytest.mark.early


async def connect(chosen, dask, **options):
    await dask.joined()
    return await DaskExecutor.connect(chosen, ClusterAddress(dask.address, **options))


async def begin(chosen, executor):
    """Start a tournament; return its task and its events after the first finished game."""
    events = []
    finished = asyncio.Event()

    def listen(event):
        events.append(event)
        if isinstance(event, GameFinished):
            finished.set()

    running = asyncio.create_task(play_with(chosen, executor, listeners=[listen]))
    await asyncio.wait_for(finished.wait(), PATIENCE)
    return running, events


def moves_of(records):
    return {(r.pair, r.game): (r.result, [m.move for m in r.moves]) for r in records}


@pytest.mark.thorough
async def test_killed_and_frozen_workers_do_not_change_results(dask):
    chosen = settings(engine(), engine("no-info"), games=12, adjudication=Adjudication(maxmoves=12))
    running, events = await begin(chosen, await connect(chosen, dask, worker_timeout=3))
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
    assert any(isinstance(event, Notice) and "no heartbeat" in event.text for event in events)


@pytest.mark.thorough
def test_search_tuning_runs_on_cluster_and_resumes(dask, tmp_path, capsys):
    dask.wait()
    state = tmp_path / "state.json"
    command, arguments = failing("none")
    spec = f"cmd={command},args={' '.join(arguments)}"
    line = ["train", "tune", "search", "Hash", "--cluster", dask.address, "--nodes", "5", "--json"]
    line += ["--pairs", "6", "--state", str(state), "--check", "0"]
    assert cli.main([*line, "--engine", spec]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    assert json.loads(output.out)["pairs"] == json.loads(state.read_text())["told"] == 6
    assert cli.main([*line, "--engine", spec]) == 0
    assert capsys.readouterr() == output


@pytest.mark.thorough
async def test_trial_values_reach_engines_on_workers(dask):
    await dask.joined()
    chosen = settings(*tuning_players(engine()), adjudication=Adjudication(maxmoves=4))
    spsa = Spsa([TunableParameter("Hash", 8, 1, 16, 2)], 4)
    cluster = await ClusterClient.connect(ClusterAddress(dask.address))
    try:
        await cluster.start(print)
        bad = replace(spsa.ask(), plus={"Hash": 4096})
        with pytest.raises(SettingsError, match="4096") as raised:
            await cluster.run(
                "bad", play_trial, chosen, bad, PairKey(1, 1, 0, 1), Opening(chess.STARTING_FEN)
            )
        assert worker_note(raised.value).startswith("worker tcp://")
        progress = []
        await tune(chosen, spsa, boards=2, report=progress.append, cluster=cluster)
    finally:
        await cluster.close()
    assert progress == [1, 2, 3]


@pytest.mark.thorough
async def test_scheduler_death_stops_run_with_message(dask):
    chosen = settings(engine(), engine("no-info"), games=24, adjudication=Adjudication(maxmoves=12))
    running, _ = await begin(chosen, await connect(chosen, dask))
    dask.processes[0].kill()
    finish, _ = await asyncio.wait_for(running, 120)
    assert finish.status is Status.FAILED
    assert "scheduler lost" in finish.reason


@pytest.mark.thorough
async def test_frozen_scheduler_stops_run_with_message(dask, monkeypatch):
    monkeypatch.setattr("protocols.cluster.client.SCHEDULER_TIMEOUT_S", 2.0)
    chosen = settings(engine(), engine("no-info"), games=24, adjudication=Adjudication(maxmoves=12))
    running, _ = await begin(chosen, await connect(chosen, dask))
    dask.processes[0].send_signal(signal.SIGSTOP)
    try:
        finish, _ = await asyncio.wait_for(running, 120)
    finally:
        dask.processes[0].send_signal(signal.SIGCONT)
    assert finish.status is Status.FAILED
    assert finish.reason.endswith("no answer from the scheduler for 2 s")


@pytest.mark.thorough
async def test_a_pair_that_kills_its_workers_stops_run(dask, tmp_path, monkeypatch):
    monkeypatch.setattr(tasks, "RETRY_TIMEOUT_S", 0)
    killer = tmp_path / "killer.py"
    # The parent of the engine's supervisor is the worker: kill it.
    killer.write_text(
        "import os, signal\n"
        "parent = open(f'/proc/{os.getppid()}/stat').read().rpartition(')')[2].split()[1]\n"
        "os.kill(int(parent), signal.SIGKILL)\n"
    )
    bad = EngineSettings(command=sys.executable, arguments=(str(killer),), name="killer")
    chosen = settings(engine(), bad, games=2, adjudication=Adjudication(maxmoves=8))
    executor = await connect(chosen, dask)

    async def replace_the_dead():
        while True:
            await asyncio.sleep(0.1)
            for index, worker in enumerate(dask.workers):
                if worker.poll() is not None:
                    dask.workers[index] = dask.add_worker()

    replacing = asyncio.create_task(replace_the_dead())
    finish, records = await asyncio.wait_for(play_with(chosen, executor), 120)
    replacing.cancel()
    assert records == []
    assert finish.status is Status.FAILED
    assert "lost with its workers" in finish.reason


async def test_lost_workers_are_retried(monkeypatch):
    """A pair is submitted again after Dask has given up on it."""
    monkeypatch.setattr(tasks, "MIN_RETRY_PAUSE_S", 0.01)
    chosen = settings(engine(), engine(), games=2)
    attempts, recorded, notices = [], [], []

    class Cluster:
        async def start(self, report, on_message):
            pass

        async def run(self, name, *arguments):
            attempts.append(name)
            if len(attempts) < 3:
                raise WorkersLostError(f"{name}: lost with its workers")
            return ["first", "second"], ""

    executor = DaskExecutor(chosen, Cluster(), 1)
    await executor.open(notices.append)
    pair = Pair(PairKey(1, 1, 0, 1), (1, 2))
    await executor.play(pair, Opening(chess.STARTING_FEN), 1, recorded.append)
    assert recorded == ["first", "second"]
    assert attempts == ["pair 1.1-2.1"] * 3
    assert notices == [Notice("pair 1.1-2.1: lost with its workers; retrying for 60 s")]


@pytest.mark.thorough
async def test_pair_returns_finished_game_if_next_one_cannot_begin(tmp_path, monkeypatch):
    monkeypatch.setattr(tasks, "RETRY_TIMEOUT_S", 0)
    program = tmp_path / "engine"
    command, arguments = failing("none")
    program.write_text(f'#!/bin/sh\nrm "$0"\nexec {command} {" ".join(arguments)}\n')
    program.chmod(0o755)
    player = EngineSettings(str(program), name="once", start_limit=10, restart=Restart.ON)
    chosen = settings(engine(), player, games=2, adjudication=Adjudication(maxmoves=4))
    worker = SimpleNamespace(worker="tcp://w", report=lambda message: None)
    pair = Pair(PairKey(1, 1, 0, 1), (1, 2))
    games, problem = await play_pair(worker, chosen, pair, Opening(chess.STARTING_FEN), False)
    assert [game.termination for game in games] == [Termination.MAX_MOVES]
    assert problem.startswith("worker tcp://w: game 1.1-2.1.2: could not begin: white (once): ")


@pytest.mark.thorough
async def test_later_worker_of_another_release_gets_no_tasks(dask, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "from protocols.cluster import worker\n"
        "worker.installed_version = lambda: 'Kempelen of another release'\n"
    )
    chosen = settings(engine(), engine("no-info"), games=80, adjudication=Adjudication(maxmoves=40))
    executor = await connect(chosen, dask)
    executor.boards = 3  # one more than there are workers
    running, events = await begin(chosen, executor)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
        dask.workers.append(dask.add_worker())
    finish, records = await asyncio.wait_for(running, PATIENCE)
    assert finish.status is Status.COMPLETE
    assert len(records) == 80
    notices = [event.text for event in events if isinstance(event, Notice)]
    (notice,) = [text for text in notices if "Kempelen of another release" in text]
    assert notice.startswith("worker tcp://")
    assert notice.endswith("(install the same version); it gets no tasks")
    dask.workers[-1].kill()
    dask.workers.pop().wait()


async def test_missing_engine_error_names_worker(dask):
    bad = EngineSettings(command="no-such-engine", name="absent")
    chosen = settings(engine(), bad)
    executor = await connect(chosen, dask)
    with pytest.raises(SettingsError, match=r"^worker tcp://.*no-such-engine"):
        await play_with(chosen, executor)


async def test_unreachable_cluster_is_reported(monkeypatch):
    monkeypatch.setattr("protocols.cluster.client.CONNECT_TIMEOUT_S", 1.0)
    with pytest.raises(SettingsError, match=r"cluster tcp://127\.0\.0\.1:1"):
        await DaskExecutor.connect(
            settings(engine(), engine()), ClusterAddress("tcp://127.0.0.1:1")
        )
