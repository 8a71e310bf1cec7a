"""Play a tournament on a Dask cluster, one pair of games per task.

Workers send events to the coordinator, which alone writes the ledger. If a rescheduled pair is
played twice, its first record is kept.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kempelen.console.settings_codec import SettingsError, decode
from kempelen.match.config.settings import Settings
from kempelen.match.game.match_game import Emit
from kempelen.match.game.openings import Opening
from kempelen.match.live.events import (
    Event,
    GameStarted,
    MovePlayed,
    Notice,
    SearchInfo,
    event_name,
    to_json,
)
from kempelen.match.pairing.pairs import Pair
from kempelen.match.records.game_record import GameRecord
from kempelen.match.runner import LocalExecutor, RecordCallback, RunStoppedError
from protocols.cluster.client import ClusterAddress, ClusterClient, worker_note
from protocols.cluster.errors import ClusterError, SchedulerLostError, WorkersLostError
from protocols.cluster.worker import WorkerTask
from protocols.tasks import retry

LIVE_EVENTS = {event_name(kind): kind for kind in (GameStarted, MovePlayed, SearchInfo, Notice)}


class DaskExecutor:
    """A GameExecutor on a Dask cluster. By default, each worker thread plays one pair of games."""

    def __init__(self, settings: Settings, tasks: ClusterClient, boards: int) -> None:
        """Use `connect` to create an executor."""
        self.boards = boards
        self._settings = settings
        self._tasks = tasks
        self._emit: Emit = _ignore
        self._boards: dict[str, int] = {}
        self._engines_checked = False

    @classmethod
    async def connect(
        cls, settings: Settings, address: ClusterAddress, boards: int | None = None
    ) -> "DaskExecutor":
        """Connect to a scheduler. Raise SettingsError if it is unreachable or has no workers."""
        try:
            tasks = await ClusterClient.connect(address)
        except ClusterError as error:
            raise SettingsError(str(error)) from None
        return cls(settings, tasks, boards or tasks.threads)

    async def open(self, emit: Emit) -> None:
        """Forward events from the workers to `emit`."""
        self._emit = emit
        await self._tasks.start(self._report, self._on_message)

    def split(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Return the pairs unchanged, because each task plays a whole pair."""
        return list(pairs)

    async def play(self, pair: Pair, opening: Opening, board: int, record: RecordCallback) -> None:
        """Play a pair on a worker.

        Raise RunStoppedError if the scheduler or too many workers are lost, or if a game cannot
        begin.
        """
        name = f"pair {pair.key}"
        self._boards[name] = board
        arguments = self._settings, pair, opening, not self._engines_checked
        try:
            games, problem = await retry(
                lambda: self._tasks.run(name, play_pair, *arguments), WorkersLostError, self._report
            )
        except (SchedulerLostError, WorkersLostError) as error:
            raise RunStoppedError(str(error)) from None
        except (ClusterError, SettingsError) as error:
            raise SettingsError(f"{worker_note(error)}{error}") from None
        finally:
            del self._boards[name]
        for game in games:
            record(game)
        if problem:
            raise RunStoppedError(problem)
        self._engines_checked = True

    async def close(self) -> None:
        await self._tasks.close()

    def _report(self, text: str) -> None:
        self._emit(Notice(text))

    def _on_message(self, name: str, message: dict[str, Any]) -> None:
        entries = dict(message)
        kind = LIVE_EVENTS.get(entries.pop("event", ""))
        board = self._boards.get(name)
        if kind is not None and board is not None:
            event: Any = decode(kind, entries)
            self._emit(event if isinstance(event, Notice) else replace(event, board=board))


async def play_pair(
    task: WorkerTask, settings: Settings, pair: Pair, opening: Opening, check: bool
) -> tuple[list[GameRecord], str]:
    """Play a pair on a worker. Return the games, and why the others could not be played, or "".

    `check` is true at the start of a run, when a missing engine is an error of the user. Later, the
    worker waits for it.
    """

    def report_event(event: Event) -> None:
        if isinstance(event, Notice):
            event = Notice(f"worker {task.worker}: {event.text}")
        task.report(to_json(event))

    records: list[GameRecord] = []
    # An engine that fails to start on one worker must not end the run on the others.
    local = LocalExecutor(settings, all_must_start=False)
    try:
        await local.open(report_event, check=check)
        await local.play(pair, opening, 0, records.append)
    except RunStoppedError as error:
        return records, f"worker {task.worker}: {error}"
    finally:
        await local.close()
    return records, ""


def _ignore(event: Event) -> None: ...
