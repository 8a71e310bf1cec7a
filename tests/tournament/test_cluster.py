"""The same tournament on a Dask cluster: a real scheduler and real workers, as processes."""

import asyncio
import signal
import sys

import pytest

from protocols.cluster.tasks import ClusterAddress
from tests.tournament.support import engine, play, play_with, settings
from tournament.cluster import Cluster
from tournament.engine_settings import EngineSettings
from tournament.events import GameFinished, MovePlayed, Notice, Status
from tournament.runner import RunStoppedError
from tournament.settings import Adjudication
from tournament.values import SettingsError
from tournament.verdicts import Termination

pytestmark = pytest.mark.early


async def connect(chosen, dask, **options):
    await dask.joined()
    return await Cluster.connect(chosen, ClusterAddress(dask.address, **options))


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
    monkeypatch.setattr("protocols.cluster.tasks.CONNECT_LIMIT", 1.0)
    with pytest.raises(SettingsError, match=r"cluster tcp://127\.0\.0\.1:1"):
        await Cluster.connect(settings(engine(), engine()), ClusterAddress("tcp://127.0.0.1:1"))
