"""Run a tournament by playing games, writing them to the ledger and notifying listeners."""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from agent.machine import usable_cores
from kempelen.console.settings_codec import SettingsError
from kempelen.console.terminal import with_progress
from kempelen.match.config.engine_settings import EngineSettings, Restart
from kempelen.match.config.settings import Settings
from kempelen.match.engines.engine_logs import EngineLogs
from kempelen.match.engines.engine_pool import EnginePool
from kempelen.match.engines.engine_protocols import MatchContext, check_engine, make_player
from kempelen.match.engines.players import EnginePlayer
from kempelen.match.game.adjudication import Adjudicator
from kempelen.match.game.match_game import Emit, GameAssignment, GameVoidError, play_game
from kempelen.match.game.openings import Opening, opening_selector, with_file_digests
from kempelen.match.live.events import (
    Event,
    GameFinished,
    Listener,
    Notice,
    StandingsChanged,
    Status,
    TournamentFinished,
    TournamentStarted,
)
from kempelen.match.pairing.pairs import Pair, PairKey
from kempelen.match.pairing.schedule import due_pairs
from kempelen.match.rating.standings import (
    FAILURES,
    Decision,
    Outcome,
    Summary,
    outcome_from_record,
    pentanomial,
    sprt_state,
    summarise,
)
from kempelen.match.records.game_record import GameRecord
from kempelen.match.records.ledger import Ledger, LedgerError
from kempelen.match.records.pending_records import PendingRecords
from protocols.mqtt.broker_monitor import BrokerLostError, Notify
from protocols.tasks import cancel_all, retry

if TYPE_CHECKING:
    from protocols.mqtt.client import BotClient

# Minimum seconds between two updates of the standings.
STANDINGS_INTERVAL = 1.0
# Retry interval and timeout, in seconds, for a failed write to the ledger.
LEDGER_RETRY = 1.0
LEDGER_TIMEOUT = 60.0

RecordCallback = Callable[[GameRecord], None]


class RunStoppedError(Exception):
    """A lasting failure, not caused by a player. The finished games are in the ledger."""


class GameExecutor(Protocol):
    """Plays units of games in parallel, at most `boards` units at a time.

    A unit is a single game on this machine, or a pair of games on a cluster.
    """

    boards: int

    async def open(self, emit: Emit) -> None:
        """Prepare to play. Raise SettingsError if the settings cannot be used."""

    def split(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Split pairs into units, whose games are played on the same board."""

    async def play(self, pair: Pair, opening: Opening, board: int, record: RecordCallback) -> None:
        """Play the games of a unit, and call `record` for each finished game."""

    async def close(self) -> None:
        """Stop running games and release all resources."""


class LocalExecutor:
    """A GameExecutor that plays on this machine. Each unit is a single game."""

    def __init__(
        self,
        settings: Settings,
        *,
        boards: int = 1,
        log_directory: str | None = None,
        all_must_start: bool = True,
        connect: "Callable[[Notify], BotClient] | None" = None,
    ) -> None:
        """Create an executor that plays `boards` games in parallel.

        `connect` creates the MQTT client for bots. Its argument is called with messages about the
        broker.
        """
        self.boards = boards
        self._settings = settings
        self._logs = EngineLogs(log_directory, self._report)
        self._connect = connect
        self._bots: BotClient | None = None
        self._all_must_start = all_must_start
        self._emit: Emit = _ignore
        self._adjudicator = Adjudicator(settings.adjudication)
        self._used_boards: set[int] = set()
        settings.run.cpus_of(boards, settings.cpus_per_board)  # fails if there are too few
        idle = max(2, len(settings.engines)) * boards
        self._pool = EnginePool(
            settings.engines, self._make_player, idle=min(idle, 64), report=self._report
        )

    async def open(self, emit: Emit, *, check: bool = True) -> None:
        """Prepare to play. Unless `check` is false, check that engines start with their options."""
        self._emit = emit
        if check:
            for engine in self._settings.engines:
                check_engine(engine, self._settings.game)
        try:
            if self._connect and self._settings.needs_bots:
                self._bots = self._connect(self._report)
                await self._bots.wait_for_broker()
            if check:
                await self._pool.check_engines(all_must_start=self._all_must_start)
        except BrokerLostError as error:
            raise RunStoppedError(str(error)) from None

    def split(self, pairs: Sequence[Pair]) -> list[Pair]:
        return [Pair(pair.key, (game,)) for pair in pairs for game in pair.games]

    async def play(self, pair: Pair, opening: Opening, board: int, record: RecordCallback) -> None:
        for number in pair.games:
            if self._settings.run.wait and board in self._used_boards:
                await asyncio.sleep(self._settings.run.wait / 1000)
            self._used_boards.add(board)
            has_affinity = bool(self._settings.run.affinity)
            assignment = GameAssignment(pair.key, number, opening, board, has_affinity)
            record(await self._play(assignment))

    async def close(self) -> None:
        await self._pool.close()
        if self._bots is not None:
            await self._bots.close()
        self._adjudicator.close()
        self._logs.close()

    async def _play(self, assignment: GameAssignment) -> GameRecord:
        """Play a game, and play it again if it is void. Raise RunStoppedError if this fails."""

        async def attempt() -> GameRecord:
            return await play_game(
                self._settings, assignment, self._pool, self._adjudicator, self._emit
            )

        while True:
            try:
                return await retry(attempt, GameVoidError, self._report)
            except GameVoidError as error:
                raise RunStoppedError(str(error)) from None
            except BrokerLostError as error:
                self._report(f"{assignment}: void, will be replayed: {error}")
            assert self._bots is not None
            try:
                await self._bots.wait_for_broker()
            except BrokerLostError as error:
                raise RunStoppedError(str(error)) from None

    def _report(self, text: str) -> None:
        self._emit(Notice(text))

    def _make_player(self, engine: EngineSettings, board: int) -> EnginePlayer:
        context = MatchContext(
            game=self._settings.game,
            rules=self._settings.rules,
            log=self._logs.log_for(engine.name),
            bots=self._bots,
            cpus=self._settings.run.cpus_of(board, self._settings.cpus_per_board),
        )
        return make_player(engine, context)


@dataclass(frozen=True, slots=True)
class RunResult:
    status: Status
    summary: Summary
    reason: str = ""

    @property
    def complete(self) -> bool:
        """Whether all games were played or the SPRT reached a decision."""
        return self.status in (Status.COMPLETE, Status.DECIDED)


class Runner:
    """One run of a tournament. Its ledger must be open."""

    def __init__(
        self, settings: Settings, ledger: Ledger, listeners: Sequence[Listener] = ()
    ) -> None:
        """Prepare a run. Games that are already in the ledger are counted.

        Listeners may be added to the list until `run` is called. Raise SettingsError if the
        openings cannot be used.
        """
        self._settings = settings
        self._ledger = ledger
        self._listeners = listeners
        self._results: dict[PairKey, dict[int, float | None]] = defaultdict(dict)
        self._outcomes: list[Outcome] = []
        self._last_standings = 0.0
        self._decided = False
        self._stopped = ""
        self._pending = PendingRecords(ledger)
        self._opening_of = opening_selector(settings, lambda text: self._emit(Notice(text)))
        # The openings of pairs of which one game is in the ledger. An earlier version may have
        # chosen another opening for them.
        self._begun: dict[PairKey, Opening] = {}
        for record in with_progress(ledger.records(), None, "reading games"):
            self._count(record)
            if settings.is_chess and not self._begun.pop(record.key, None):
                self._begun[record.key] = Opening(record.fen, record.opening)

    @property
    def outcomes(self) -> Sequence[Outcome]:
        """The results of the games in the ledger."""
        return self._outcomes

    @property
    def played(self) -> int:
        """The number of games in the ledger."""
        return len(self._outcomes)

    async def run(self, executor: GameExecutor) -> RunResult:
        """Play until all games are finished or the SPRT decides. The executor is always closed.

        The result has the status FAILED if something other than the players prevents the games, for
        example a lost broker. To interrupt the run, cancel its task.
        """
        end = Status.FAILED, "an internal error"
        try:
            self._decided = self._test_decided()
            self._emit_start(executor.boards)
            if not self._decided and due_pairs(self._settings, self._results):
                await executor.open(self._emit)
                await self._play_all(executor)
                self._restore_ledger()
            end = self._status()
        except asyncio.CancelledError:
            end = Status.INTERRUPTED, "interrupted"
            raise
        except RunStoppedError as error:
            end = Status.FAILED, str(error)
        except Exception as error:
            end = Status.FAILED, str(error)
            raise
        finally:
            await asyncio.shield(executor.close())
            if text := self._pending.flush():
                self._emit(Notice(text))
            summary = summarise(self._settings, self._outcomes)
            self._emit(TournamentFinished(end[0], summary, end[1]))
        return RunResult(end[0], summary, end[1])

    async def _play_all(self, executor: GameExecutor) -> None:
        free = list(range(executor.boards, 0, -1))
        running: dict[asyncio.Task[None], int] = {}
        waiting: deque[Pair] = deque()
        try:
            while not (self._decided or self._stopped):
                self._retry_writing()
                if not waiting and not running and not self._pending:
                    waiting.extend(executor.split(due_pairs(self._settings, self._results)))
                    if not waiting:
                        return
                while waiting and free and not self._pending:
                    pair, board = waiting.popleft(), free.pop()
                    opening = self._choose_opening(pair.key)
                    task = asyncio.create_task(
                        executor.play(pair, opening, board, self._recorder(board))
                    )
                    running[task] = board
                for task in await _first_done(running, self._pending):
                    free.append(running.pop(task))
                    task.result()
        finally:
            await cancel_all(running)

    def _choose_opening(self, key: PairKey) -> Opening:
        try:
            return self._begun.get(key) or self._opening_of(key.round, key.number)
        except SettingsError as error:  # the file is not readable any more
            raise RunStoppedError(str(error)) from None

    def _recorder(self, board: int) -> RecordCallback:
        def record(game: GameRecord) -> None:
            self._pending.add(board, game)
            self._write()

        return record

    def _write(self) -> None:
        while self._pending and not self._decided:
            try:
                board, game, new = self._pending.write_next()
            except LedgerError as error:
                if text := self._pending.save_backup(error):
                    self._emit(Notice(text))
                return
            if new:
                self._count(game)
                self._emit(GameFinished(board, game))
                self._emit_standings()
                self._decided = self._test_decided()
                self._stop_on_failure(game)
        if text := self._pending.clear():
            self._emit(Notice(text))

    def _retry_writing(self) -> None:
        if self._pending:
            self._write()
            if self._pending.wait_time > LEDGER_TIMEOUT:
                raise RunStoppedError(self._pending.problem)

    def _restore_ledger(self) -> None:
        try:
            self._ledger.restore()
        except LedgerError as error:
            raise RunStoppedError(str(error)) from None

    def _count(self, record: GameRecord) -> None:
        self._results[record.key][record.game] = record.first_score
        self._outcomes.append(outcome_from_record(record))

    def _test_decided(self) -> bool:
        if self._settings.sprt is None:
            return False
        counts = pentanomial(self._outcomes)
        return sprt_state(self._settings.sprt, counts).decision is not Decision.OPEN

    def _stop_on_failure(self, game: GameRecord) -> None:
        if game.termination not in FAILURES or game.white_score is None:
            return
        outcome = self._outcomes[-1]
        loser = outcome.white if outcome.white_score == 0 else outcome.black
        if self._settings.engines[loser].restart is Restart.OFF:
            self._stopped = f"{game.detail} (restart=off)"

    def _status(self) -> tuple[Status, str]:
        if self._stopped:
            return Status.FAILED, self._stopped
        if self._decided:
            return Status.DECIDED, "SPRT decided"
        if not any(outcome.plies for outcome in self._outcomes):
            reason = "no game has any moves"
            details = [record.detail for record in self._ledger.records() if record.detail]
            return Status.FAILED, f"{reason}: {details[-1]}" if details else reason
        return Status.COMPLETE, ""

    def _emit_start(self, boards: int) -> None:
        settings = self._settings
        summary = summarise(settings, self._outcomes)
        self._emit(
            TournamentStarted(
                name=settings.name,
                format=str(settings.format),
                players=summary.players,
                time=settings.time_description,
                boards=boards,
                asked=summary.asked,
                played=summary.played,
                game=settings.game,
            )
        )
        self._emit(StandingsChanged(summary))

    def _emit_standings(self) -> None:
        if self._listeners and time.monotonic() - self._last_standings >= STANDINGS_INTERVAL:
            self._last_standings = time.monotonic()
            self._emit(StandingsChanged(summarise(self._settings, self._outcomes)))

    def _emit(self, event: Event) -> None:
        for listener in self._listeners:
            listener(event)


async def play_tournament(
    settings: Settings,
    *,
    ledger: str | None = None,
    resume: bool = False,
    boards: int = 1,
    listeners: Sequence[Listener] = (),
) -> tuple[RunResult, list[GameRecord]]:
    """Play a tournament on this machine. Return its result and all its games.

    `ledger` is the path of an SQLite file, or None to keep the games in memory. Raise SettingsError
    or LedgerError for invalid settings or an unusable file.
    """
    settings = with_file_digests(settings.with_unique_names())
    database = Ledger(ledger)
    try:
        database.begin(settings, resume=resume)
        runner = Runner(settings, database, listeners)
        result = await runner.run(LocalExecutor(settings, boards=boards))
        return result, list(database.records())
    finally:
        database.close()


async def _first_done(
    running: Collection[asyncio.Task[None]], unwritten: PendingRecords
) -> set[asyncio.Task[None]]:
    """Wait for a task and return the finished ones, or none when it is time to retry a write."""
    timeout = LEDGER_RETRY if unwritten else None
    if not running:
        await asyncio.sleep(LEDGER_RETRY)
        return set()
    done, _ = await asyncio.wait(running, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    return done


def limit_concurrency(asked: int, *, oversubscribe: bool) -> tuple[int, Notice | None]:
    """Limit the number of parallel games to the CPU cores, unless `oversubscribe` is true.

    Return the number, and a notice if it was reduced.
    """
    cores = usable_cores()
    if asked <= cores or oversubscribe:
        return asked, None
    text = f"concurrency {asked}: reduced to {cores} cores (use --oversubscribe to keep it)"
    return cores, Notice(text)


def _ignore(event: Event) -> None: ...
