"""Plays on a Dask cluster: the same tournament, with pairs of games as the tasks.

The coordinator's ledger stays the only truth: a pair's records are offered to it as they come,
and the first write wins. Workers send what happens, the records included, over Dask's event log:
a result that had to be fetched from the worker that holds it could wait for ever for one that
froze meanwhile. A pair on a worker that the scheduler has not heard of for a while is given out
again, to another.
"""

import asyncio
import contextlib
import itertools
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import distributed
from distributed.scheduler import KilledWorker

from tournament.events import (
    Event,
    GameStarted,
    MovePlayed,
    Notice,
    SearchInfo,
    event_name,
    to_json,
)
from tournament.match_game import Emit
from tournament.openings import Opening
from tournament.pairs import Pair, PairKey
from tournament.records import GameRecord
from tournament.runner import Local, Record, RunStoppedError
from tournament.settings import Settings
from tournament.values import SettingsError, decode, encode
from tournament.verdicts import Termination

CONNECT_LIMIT = 10.0
HEARTBEAT = 1.0
# A worker that its scheduler has not heard of for so many seconds is taken for frozen.
SILENCE = 15.0
# A distributed.Future.
Task = Any
LIVE_EVENTS = {event_name(kind): kind for kind in (GameStarted, MovePlayed, SearchInfo)}


class Cluster:
    """A workplace on a cluster, with as many boards as its workers have threads, or as asked."""

    def __init__(
        self, settings: Settings, client: distributed.Client, boards: int, silence: float
    ) -> None:
        """Use `connect` to make one."""
        self.boards = boards
        self._settings = settings
        self._client = client
        self._silence = silence
        self._run = f"kempelen-{secrets.token_hex(4)}"
        self._numbers = itertools.count(1)
        self._emit: Emit = _ignore
        self._shown: dict[str, int] = {}
        self._arrivals: dict[str, asyncio.Future[list[str]]] = {}
        self._silent: set[str] = set()
        self._watching: asyncio.Task[None] | None = None

    @classmethod
    async def connect(
        cls,
        settings: Settings,
        address: str,
        *,
        boards: int | None = None,
        security: distributed.Security | None = None,
        silence: float = SILENCE,
    ) -> "Cluster":
        """Connect to a scheduler; SettingsError if it, or any worker, is not there."""
        try:
            client = await distributed.Client(
                address,
                asynchronous=True,
                timeout=CONNECT_LIMIT,
                security=security,
                set_as_default=False,
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise SettingsError(f"cluster {address}: {error}") from None
        threads = sum((await client.nthreads()).values())
        if not threads:
            await client.close()
            raise SettingsError(f"cluster {address}: no workers have joined it yet")
        return cls(settings, client, boards or threads, silence)

    async def open(self, emit: Emit) -> None:
        """Follow what the workers say, and whether they live."""
        self._emit = emit
        self._client.subscribe_topic(self._run, lambda event: self._hear(event[1]))
        self._watching = asyncio.create_task(self._watch())

    def units(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Keep pairs whole."""
        return list(pairs)

    async def play(self, pair: Pair, opening: Opening, board: int, record: Record) -> None:
        """Have a pair played, by as many workers as it takes, and record it."""
        key = str(pair.key)
        self._shown[key] = board
        self._arrivals[key] = asyncio.get_running_loop().create_future()
        tasks: list[Task] = []
        try:
            results = await self._first_result(tasks, pair, opening)
        except OSError as error:
            raise RunStoppedError(
                f"cluster {self._client.scheduler.address}: its scheduler is gone: {error}"
            ) from None
        finally:
            del self._shown[key], self._arrivals[key]
            for task in tasks:
                if not task.done():
                    await task.cancel(force=True)
                task.release()
        for result in results:
            record(decode(GameRecord, json.loads(result)))

    async def close(self) -> None:
        """Leave the cluster; tasks of this run that have not begun are cancelled."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        await self._client.close()

    async def _first_result(self, tasks: list[Task], pair: Pair, opening: Opening) -> list[str]:
        """Return a pair's games, from the first worker that sends them; `tasks` takes its tasks."""
        arrival = self._arrivals[str(pair.key)]
        tasks.append(await self._submit(pair, opening))
        while True:
            await asyncio.wait([arrival], timeout=HEARTBEAT)
            if arrival.done():
                return arrival.result()
            for task in tasks:
                if task.status == "error":
                    return self._lost(await task.exception(), pair, opening)
                if task.status == "cancelled":
                    raise OSError("the connection is closed")
            holders = await self._silent_holders(tasks[-1])
            if holders:
                names = ", ".join(sorted(holders))
                self._emit(Notice(f"worker {names} is silent: pair {pair.key} goes elsewhere"))
                tasks.append(await self._submit(pair, opening))

    async def _submit(self, pair: Pair, opening: Opening) -> Task:
        job = {
            "settings": encode(self._settings),
            "pair": str(pair.key),
            "games": list(pair.games),
            "opening": encode(opening),
            "topic": self._run,
        }
        heard = await self._heard()
        return self._client.submit(
            play_pair,
            json.dumps(job),
            key=f"{self._run}-{pair.key}-{next(self._numbers)}",
            workers=heard or None,
            # In case those that are heard of now are all gone when the task is to begin.
            allow_other_workers=bool(heard),
            pure=False,
        )

    async def _heard(self) -> list[str]:
        """Return the workers that are not silent; none where all are heard of."""
        if not self._silent:
            return []
        return [worker for worker in await self._client.nthreads() if worker not in self._silent]

    def _lost(self, error: Exception, pair: Pair, opening: Opening) -> list[str]:
        """Return the records of a pair whose workers all died; any other error is raised."""
        if not isinstance(error, KilledWorker):
            raise error
        return [
            json.dumps(encode(lost_game(self._settings, pair.key, game, opening, str(error))))
            for game in pair.games
        ]

    async def _silent_holders(self, task: Task) -> set[str]:
        """Return the silent workers that hold a task, if another could have it."""
        if not await self._heard():
            return set()
        holding = await self._client.processing()
        return {name for name in self._silent if task.key in list(holding.get(name, ()))}

    async def _watch(self) -> None:
        """Keep the set of silent workers up to date."""
        while True:
            await asyncio.sleep(HEARTBEAT)
            with contextlib.suppress(OSError, TimeoutError):
                scheduler: Any = self._client.scheduler
                identity = await scheduler.identity(n_workers=-1)
                now = time.time()
                self._silent = {
                    name
                    for name, worker in identity["workers"].items()
                    if now - worker["last_seen"] > self._silence
                }

    def _hear(self, message: dict[str, Any]) -> None:
        if "records" in message:
            arrival = self._arrivals.get(message["pair"])
            if arrival is not None and not arrival.done():
                arrival.set_result(message["records"])
            return
        # Dask adds entries of its own to the message.
        entries = dict(message.get("live", {}))
        kind = LIVE_EVENTS.get(entries.pop("event", ""))
        board = self._shown.get(entries.get("pair", ""))
        if kind is not None and board is not None:
            event: Any = decode(kind, entries)
            self._emit(replace(event, board=board))


def play_pair(text: str) -> None:
    """Play a pair's games on a worker; send their records as JSON."""
    job = json.loads(text)
    records = asyncio.run(_play_pair(job))
    distributed.get_worker().log_event(job["topic"], {"pair": job["pair"], "records": records})


async def _play_pair(job: dict[str, Any]) -> list[str]:
    settings = decode(Settings, job["settings"])
    opening = decode(Opening, job["opening"])
    key = PairKey.from_text(job["pair"])
    worker = distributed.get_worker()
    topic = job["topic"]

    def tell(event: Event) -> None:
        worker.log_event(topic, {"live": to_json(event)})

    records: list[str] = []
    # One worker that cannot start an engine is no reason to end the games of the others.
    local = Local(settings, all_must_start=False)
    try:
        await local.open(tell)
        pair = Pair(key, tuple(job["games"]))
        await local.play(
            pair, opening, 0, lambda record: records.append(json.dumps(encode(record)))
        )
    finally:
        await local.close()
    return records


def lost_game(
    settings: Settings, key: PairKey, game: int, opening: Opening, detail: str
) -> GameRecord:
    """Return the record of a game whose workers were all lost: it has no result."""
    return GameRecord(
        pair=str(key),
        game=game,
        white=settings.engines[key.white(game)].name,
        black=settings.engines[key.black(game)].name,
        fen=opening.fen,
        opening=opening.moves,
        moves=(),
        result="*",
        termination=Termination.WORKER_LOST,
        detail=detail,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        chess960=settings.chess960,
        white_time=str(settings.time_of(key.white(game))),
        black_time=str(settings.time_of(key.black(game))),
    )


def _ignore(event: Event) -> None:
    """Take an event that nobody listens for."""
