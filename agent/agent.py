"""The agent: asked to go, it thinks in a thread of its own and answers with one move.

Whatever is asked of a player is done in order by that one thread, so a caller never waits: a
`go` during a search stops that search, whose answer is given first. Every `go` gets exactly one
result, also when it is stopped before it began, when there is no move, or when a search fails.

The search itself has a thread apart, which the player's thread watches: where a user's evaluation
keeps it from ending in time, it is given up, and the last completed iteration is the answer.

Where many players share a machine each waits for its turn to search, while its clock runs.
"""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar, cast, runtime_checkable

from agent.clock import SearchClock
from agent.evaluation_types import EvaluationError
from agent.io.user_code import error_message
from agent.lag import LagEstimator, measure_lag
from agent.limits import Info, Limits, Progress, Result, Score
from agent.threads.background_call import BackgroundCall
from agent.threads.one_shot_event import OneShotEvent, wait_for_any
from agent.threads.scheduler import ScheduledSearch, SearchScheduler
from agent.threads.serial_executor import Job, SerialExecutor

Position = TypeVar("Position")
Position_contra = TypeVar(
    "Position_contra", contravariant=True
)  # a position, for whoever only takes it
Move = TypeVar("Move")

# A search that was stopped ends within a millisecond; if not, see that often what keeps it.
POLL_INTERVAL_S = 0.005

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class ReportInterval:
    """When a long search tells where it stands: seconds to the first report, and between them."""

    first: float = 3.0
    every: float = 1.0


DEFAULT_REPORT_INTERVAL = ReportInterval()


class Searcher(Protocol[Position_contra, Move]):
    """A search that its caller drives: it prints nothing and reads no clock.

    A position is a `chess.Board` in chess, in any other game a `Game`.
    """

    def search(
        self, position: Position_contra, limits: Limits[Move], lines: int = 1, /
    ) -> Iterator[Info[Move]]:
        """Search deeper and deeper; yield each iteration's lines, multipv 1..lines in order.

        After a stop it may yield, once more from multipv 1 on, what an iteration that was cut short
        has found, followed by lines of the one before; all but the first have complete=False.
        Obeys depth, nodes, mate and search_moves; time is the caller's, who calls `stop`. Yields
        at least one Info, even when stopped at once; is never called without a legal move. May
        raise `agent.evaluation.EvaluationError` at any point. The moves are in the position's own
        notation. The position is the caller's to give away: nobody else uses it meanwhile.
        """

    def clear_stop(self) -> None:
        """Reset the stop flag, before a search."""

    def stop(self) -> None:
        """End the search soon; from any thread, and remembered until `arm`."""

    def new_game(self) -> None:
        """Forget everything that can change a search."""

    def progress(self) -> Progress[Move]:
        """Tell where the running search stands; from any thread."""


@runtime_checkable
class Pausable(Protocol):
    """A searcher that can make room for others in the middle of an iteration."""

    @property
    def threads(self) -> int:
        """How many threads search."""

    def pause(self, wait: Callable[[], object], /) -> None:
        """Let the search rest soon: its thread calls `wait`, and then goes on where it was.

        From any thread, while `deepen` is driven.
        """


class SearcherWrapper(Generic[Position, Move]):
    """What a searcher around another leaves to that one. searcher: the other."""

    def __init__(self, searcher: Searcher[Position, Move]) -> None:
        self.searcher = searcher

    def clear_stop(self) -> None:
        """Reset the stop flag, before a search."""
        self.searcher.clear_stop()

    def stop(self) -> None:
        """End the search soon."""
        self.searcher.stop()

    def new_game(self) -> None:
        """Forget everything that can change a search, but what was learned for good."""
        self.searcher.new_game()

    def progress(self) -> Progress[Move]:
        """Tell where the running search stands."""
        return self.searcher.progress()

    def search_wrapped(
        self, position: Position, limits: Limits[Move], lines: int
    ) -> Generator[Info[Move], None, None]:
        """Have the other one search; to close the generator ends that."""
        yield from self.searcher.search(position, limits, lines)


class PausableWrapper(SearcherWrapper[Position, Move]):
    """One around a searcher that can make room for others."""

    @property
    def threads(self) -> int:
        """How many threads search."""
        return cast(Pausable, self.searcher).threads

    def pause(self, wait: Callable[[], object], /) -> None:
        """Let the search rest soon."""
        cast(Pausable, self.searcher).pause(wait)


class SearchBackend(Protocol[Position_contra, Move]):
    """Where a player gets its searcher from, one search at a time."""

    def get_searcher(
        self, clock: SearchClock[Move], stop: OneShotEvent, /
    ) -> Searcher[Position_contra, Move]:
        """Return who searches now. May wait for it, until `stop` or as the clock allows."""

    def abandon(self, thread: threading.Thread, /) -> str | None:
        """Give up what that thread does with the searcher, if a user's code keeps it.

        Return what to tell the user then; the next searcher is another one. From any thread,
        while that thread is the only one to use the source.
        """


class MoveProvider(Protocol[Position_contra, Move]):
    """Who may know the move without a search: an opening book, an endgame table."""

    def probe(
        self, position: Position_contra, limits: Limits[Move], lines: int, /
    ) -> Info[Move] | None:
        """Return the line to play, or None where a search is to decide.

        Called from the player's thread, never without a legal move; must not take long. lines:
        how many best lines are asked for. The moves are in the position's own notation, and the
        position is the same after.
        """


class PositionAdapter(Protocol[Position, Move]):
    """How a player reads the positions of a kind of game."""

    def copy(self, position: Position, /) -> Position:
        """Return the same position, with what a search needs of the game before it."""

    def moves(self, position: Position, /) -> Iterable[Move]:
        """Generate the moves that a player chooses among."""

    def terminal_score(self, position: Position, /) -> Score:
        """Return the score, for its mover, of a position without a move."""

    def follows(self, later: Position, move: Move, earlier: Position, /) -> bool:
        """Tell whether a position comes from an earlier one by a move of ours and one reply."""


class Listener(Protocol[Move]):
    """Who is told what a player thinks; called from the player's threads."""

    def info(self, info: Info[Move]) -> None:
        """Take one line of play."""

    def progress(self, progress: Progress[Move], seconds: float) -> None:
        """Take a sign of life from a long search."""

    def error(self, message: str) -> None:
        """Take note that a search or a task failed; the player goes on."""

    def result(self, result: Result[Move]) -> None:
        """Take the answer: the last call of a search."""


class AgentError(Exception):
    """What was asked for cannot be done; the message says why."""


class Agent(SerialExecutor, Generic[Position, Move]):
    """Plays and does other lengthy work, one thing at a time, in a thread of its own.

    overhead: seconds between a result and the clock that times it. patient: use the time that is
    given even where there is no choice of move. thrift: the share of the time usually planned that
    a move is to take. source: who gives the searchers. These hold from the next `go` on. advisors:
    asked in order before each search; the first that knows a line is followed. turns: shared with
    all players that search by turns; None to search at any time.
    """

    def __init__(
        self,
        source: SearchBackend[Position, Move],
        listener: Listener[Move],
        reader: PositionAdapter[Position, Move],
        overhead: float = 0.010,
        move_providers: Sequence[MoveProvider[Position, Move]] = (),
        scheduler: SearchScheduler | None = None,
    ) -> None:
        self.overhead = overhead
        self.use_full_time = False
        self.time_factor = 1.0
        self.source = source
        self._listener = listener
        self._reader = reader
        self._move_providers = move_providers
        self._scheduler = scheduler
        self.lag_estimator = LagEstimator()
        self._last: _SearchRun[Position, Move] | None = None
        super().__init__(lambda error: listener.error(describe(error)), "player")

    def go(self, position: Position, limits: Limits[Move], lines: int = 1) -> None:
        """Think about a position, which is copied; what was going on is stopped first."""
        thinking = self._start_run(position, limits, lines, self._listener, DEFAULT_REPORT_INTERVAL)
        self.stop()
        job = Job(thinking.run, long_running=True, endless=limits.endless)
        job.ponderhit.add_callback(thinking.clock.start)  # which may come before the search begins
        self._submit(job)

    def think(
        self,
        job: Job,
        position: Position,
        limits: Limits[Move],
        lines: int,
        listener: Listener[Move],
        report_interval: ReportInterval = DEFAULT_REPORT_INTERVAL,
    ) -> Result[Move]:
        """Think about a position, which is copied, as a part of a job; return the answer.

        listener: told as of a `go`; pace: how often where the search stands. The job may go on
        after a search that its clock has stopped.
        """
        part = Job(job.work, job.long_running)
        job.stop.add_callback(part.stop.set)
        job.ponderhit.add_callback(part.ponderhit.set)
        return self._start_run(position, limits, lines, listener, report_interval).run(part)

    def _start_run(
        self,
        position: Position,
        limits: Limits[Move],
        lines: int,
        listener: Listener[Move],
        report_interval: ReportInterval,
    ) -> _SearchRun[Position, Move]:
        """Let the clock of a search run."""
        if self._last is not None and (lag := self._last.lag(position, limits)) is not None:
            self.lag_estimator.update(lag)
        reader = self._reader
        position = reader.copy(position)
        root_moves = list(islice(limits.search_moves or reader.moves(position), max(lines, 2)))
        only_move = not self.use_full_time and len(root_moves) < 2
        overhead = self.overhead + (0.0 if self._scheduler is None else self._scheduler.reserve)
        reserve = self.lag_estimator.reserve(limits.clock)
        clock = SearchClock(
            limits, overhead, only_move, reserve=reserve, time_factor=self.time_factor
        )
        self._last = _SearchRun(
            position,
            limits,
            lines,
            root_moves,
            clock,
            reader,
            self.source,
            listener,
            self._move_providers,
            report_interval,
            self._scheduler,
        )
        return self._last

    def run_user_code(self, job: Job, work: Callable[[], Answer]) -> Answer:
        """Do work of a job that calls a user's evaluation; raise AgentError if it is given up."""
        apart = BackgroundCall(work, "apart")
        if not apart.wait(job.stop) and (message := _wait_or_abandon(apart, self.source)):
            raise AgentError(message)
        return apart.result()

    def ponderhit(self) -> None:
        """Go on by the clock: the move that was pondered on has been played."""
        for job in self.pending():
            job.ponderhit.set()

    def new_game(self) -> None:
        """Take the next position for one of another game."""
        self._last = None
        self.lag_estimator.new_game()

    def close(self, timeout: float) -> bool:
        """Stop and end the thread; return whether it ended within `timeout` seconds."""
        ended = super().close(timeout)
        if ended:
            self._last = None  # which knows the last search, and all its memory
        return ended


class _SearchRun(Generic[Position, Move]):
    """One search, from `go` to its result.

    choice: moves to choose among, as many as tell whether there is a choice and how many lines.
    """

    def __init__(
        self,
        position: Position,
        limits: Limits[Move],
        lines: int,
        root_moves: Sequence[Move],
        clock: SearchClock[Move],
        reader: PositionAdapter[Position, Move],
        source: SearchBackend[Position, Move],
        listener: Listener[Move],
        move_providers: Sequence[MoveProvider[Position, Move]],
        report_interval: ReportInterval,
        scheduler: SearchScheduler | None,
    ) -> None:
        self.clock = clock
        self._position = position
        self._limits = limits
        self._root_moves = root_moves
        self._lines = min(lines, len(root_moves))
        self._reader = reader
        self._source = source
        self._listener = listener
        self._move_providers = move_providers
        self._pace = report_interval
        self._scheduler = scheduler
        self._scheduled: ScheduledSearch | None = None
        self._searcher: Searcher[Position, Move] | None = None
        self._best: Info[Move] | None = None
        self._last: Info[Move] | None = None
        self._output_lock = threading.Lock()
        self._finished = False
        self._result: Result[Move] | None = None

    def lag(self, position: Position, limits: Limits[Move]) -> float | None:
        """Return how much later than meant the answer reached our clock, if the next `go` tells.

        It does if it is about our next move of the same game, with no time control in between.
        """
        before, after, planned_time = self._limits.clock, limits.clock, self.clock.planned_time
        move = None if self._result is None else self._result.move
        if move is None or before is None or after is None or planned_time is None:
            return None
        if self._limits.infinite or limits.infinite or self._limits.moves_to_go == 1:
            return None
        if not self._reader.follows(position, move, self._position):
            return None
        return measure_lag(before, after, planned_time)

    def run(self, job: Job) -> Result[Move]:
        """Think and answer, whatever happens."""
        thinking = BackgroundCall(lambda: self._work(job), "search")
        try:
            self._supervise(job, thinking)
        except Exception as error:  # noqa: BLE001 - whoever listens may fail
            job.stop.set()
            self._report_error(describe(error))
        message = _wait_or_abandon(thinking, self._source)
        if self._scheduled is not None:
            self._scheduled.release()  # which a search that was given up does not
        with self._output_lock:  # a search that was given up is silent from here
            self._finished = True
        if message:
            self._listener.error(message)
            self._last = None
        self.clock.finish()
        self._result = self._make_result()
        self._listener.result(self._result)
        if self._scheduler is not None and self.clock.limited:
            self._scheduler.record_lateness(-self.clock.remaining())
        return self._result

    def _work(self, job: Job) -> None:
        """Think, and wait with the answer where the protocol says so."""
        try:
            if not self._lines:
                self._report_info(
                    Info(depth=0, score=self._reader.terminal_score(self._position), pv=())
                )
            elif advice := self._probe_providers():
                self._report_info(replace(advice, time=self.clock.elapsed()))
            else:
                self._think(job)
        except BaseException as error:  # noqa: BLE001 - a user's code may even exit
            self._report_error(describe(error))
        finally:
            self._wait_to_answer(job)
            self.clock.finish()

    def _probe_providers(self) -> Info[Move] | None:
        """Return what the first advisor knows; one that fails costs no move, only a message."""
        for advisor in self._move_providers:
            try:
                if advice := advisor.probe(self._position, self._limits, self._lines):
                    return advice
            except Exception as error:  # noqa: BLE001 - there is still the search
                self._report_error(describe(error))
        return None

    def _think(self, job: Job) -> None:
        searcher = self._source.get_searcher(self.clock, job.stop)
        searcher.clear_stop()
        job.stop.add_callback(searcher.stop)
        if self._scheduler is None:
            self._drive(searcher, None)
            return
        threads = searcher.threads if isinstance(searcher, Pausable) else 1
        scheduled = self._scheduler.register(self.clock, threads, endless=self._limits.endless)
        self._scheduled = scheduled
        job.stop.add_callback(scheduled.stop)
        if isinstance(searcher, Pausable):
            pausable = searcher
            scheduled.pause = lambda: pausable.pause(scheduled.acquire)
        try:
            if scheduled.acquire():
                self._drive(searcher, scheduled)
        finally:
            scheduled.release()

    def _drive(self, searcher: Searcher[Position, Move], scheduled: ScheduledSearch | None) -> None:
        """Search until the limits or the clock say that it is enough."""
        self._searcher = searcher
        for info in searcher.search(self._position, self._limits, self._lines):
            self._report_info(replace(info, time=self.clock.elapsed()))
            if not info.complete or info.bound or info.multipv < self._lines or not self._best:
                continue
            best = self._best
            if scheduled is not None:
                self.clock.waited = scheduled.wait_time
            if not self.clock.should_continue(best.pv[0], best.score, best.effort, best.visit_lead):
                break
            if scheduled is not None and not scheduled.acquire():
                break

    def _report_info(self, info: Info[Move]) -> None:
        """Pass a line on, and remember it if it says what to play, unless it comes too late."""
        with self._output_lock:
            if not self._finished:
                self._record_info(info)

    def _report_error(self, message: str) -> None:
        """Pass on what went wrong, unless it comes too late."""
        with self._output_lock:
            if not self._finished:
                self._listener.error(message)
                self._last = None

    def _record_info(self, info: Info[Move]) -> None:
        if info.multipv == 1 and info.pv and (info.bound != "upperbound" or not self._best):
            self._best = info
        self._last = info
        self._listener.info(info)

    def _wait_to_answer(self, job: Job) -> None:
        """Wait with the answer where the protocol says so, however early the search is done."""
        if self._limits.infinite:
            wait_for_any(job.stop)
        elif self._limits.ponder:
            wait_for_any(job.stop, job.ponderhit)

    def _make_result(self) -> Result[Move]:
        """Make the last line reported the one that is played, with an exact score."""
        best = self._best
        if best is None:
            move = self._root_moves[0] if self._root_moves else None
            return Result(move, info=self._last, planned_time=self.clock.planned_time)
        if (self._last is not best or best.bound) and self._searcher is not None:
            now = self._searcher.progress()
            best = replace(
                best,
                bound="",
                nodes=max(now.nodes, best.nodes),
                hashfull=now.hashfull,
                time=self.clock.elapsed(),
            )
            self._record_info(best)
        reply = best.pv[1] if len(best.pv) > 1 else None
        return Result(best.pv[0], reply, best, self.clock.planned_time)

    def _supervise(self, job: Job, thinking: BackgroundCall[None]) -> None:
        """Stop the search at the hard limit; once in a while, tell where it stands.

        Returns when the search is over, or stopped.
        """
        wake = threading.Event()
        for latch in (job.ponderhit, job.stop, thinking.done):
            latch.add_callback(wake.set)
        report_at = self._pace.first
        while not (thinking.done.is_set() or job.stop.is_set()):
            if self.clock.remaining() <= 0.0:
                job.stop.set()
                return
            if self.clock.elapsed() >= report_at:
                report_at += self._pace.every
                if self._searcher is not None:
                    self._listener.progress(self._searcher.progress(), self.clock.elapsed())
                    self._last = None
            wake.wait(max(min(self.clock.remaining(), report_at - self.clock.elapsed()), 0.0))
            wake.clear()


def _wait_or_abandon(apart: BackgroundCall[Any], source: SearchBackend[Any, Any]) -> str | None:
    """Wait until it is over, after a stop; or give it up, and return what to tell the user."""
    while not apart.wait(timeout=POLL_INTERVAL_S):
        if message := source.abandon(apart.thread):
            return message
    return None


def describe(error: BaseException) -> str:
    """Return the message of an error that was foreseen, type and place too of one that was not."""
    foreseen = (AgentError, EvaluationError, MemoryError)
    if isinstance(error, foreseen) and str(error):
        return str(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(frame.filename)}:{frame.lineno}"
    return f"internal error: {type(error).__name__}: {error_message(error)} ({place})"
