"""Agents run searches in their own thread and answer each `go` request with exactly one result.

The agent's queue is the only place where a request waits. A `go` request during a search with
limits waits for its result, and its clock starts then. During a search without limits, it stops
that search, which first reports its result. A search also reports a result if it fails, is stopped
before it begins, or has no legal move. A stopped search completes its first iteration, unless this
takes too long.

The search runs in the agent's thread, and a second thread stops it at its time limit. Only a search
that calls user code runs in a thread of its own. If that code blocks it beyond its time limit, the
agent abandons this thread and plays the best move found so far.
"""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from agent.clock import SearchClock
from agent.evaluation_types import EvaluationError
from agent.io.message import Message, MessageError
from agent.io.user_code import error_message
from agent.lag import LagEstimator, measure_lag
from agent.limits import Info, Limits, Progress, Result, Score
from agent.threads.background_call import BackgroundCall
from agent.threads.one_shot_event import OneShotEvent, wait_for_any
from agent.threads.scheduler import ScheduledSearch, SearchScheduler
from agent.threads.serial_executor import Job, SerialExecutor

Position = TypeVar("Position")
Position_contra = TypeVar("Position_contra", contravariant=True)
Move = TypeVar("Move")

# A stopped search normally ends within 1 ms. If it does not, check for stuck user code this often.
POLL_INTERVAL_S = 0.005
# A search that is stopped before its first line may take this long to complete its first iteration,
# because the first legal move is rarely a good one. Compiled searches need less than 1 ms.
FIRST_LINE_TIMEOUT_S = 0.1
# Maximum wait for the searcher of a stopped search. Importing the Python search takes a while.
START_TIMEOUT_S = 1.0

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class ReportInterval:
    """When a search reports its progress: after `first` seconds, then every `every` seconds."""

    first: float = 3.0
    every: float = 1.0


DEFAULT_REPORT_INTERVAL = ReportInterval()


class Searcher(Protocol[Position_contra, Move]):
    """An iterative-deepening search, which performs no I/O and reads no clock.

    A position is a `chess.Board` in chess, and a `Game` object in every other game.
    """

    def search(
        self, position: Position_contra, limits: Limits[Move], lines: int = 1, /
    ) -> Iterator[Info[Move]]:
        """Yield the principal variations of each iteration, ordered by `multipv` from 1 to `lines`.

        The search enforces the `depth`, `nodes`, `mate` and `search_moves` limits. The caller
        enforces time limits by calling `stop`. Even a stopped search yields at least one `Info`.
        The first iteration may exceed the `nodes` limit, because it should be completed.

        A search that is stopped during an iteration may yield one more set of lines, numbered from
        1. All of them except the first have `complete=False`. Lines that the interrupted iteration
        did not find are taken from the previous iteration.

        The position must have a legal move. No other code may use the position during the search.
        Raise `EvaluationError` if a user's evaluation fails.
        """

    def clear_stop(self) -> None:
        """Clear the stop flag. The caller must do this before each search."""

    def stop(self) -> None:
        """Stop the search, and all later searches until `clear_stop`. Thread-safe."""

    def new_game(self) -> None:
        """Clear all state that can influence later searches, such as the transposition table."""

    def progress(self) -> Progress[Move]:
        """Return the progress of the running search. Thread-safe."""


@runtime_checkable
class Pausable(Protocol):
    """A searcher that can be paused in the middle of an iteration."""

    @property
    def threads(self) -> int:
        """The number of search threads."""

    def pause(self, wait: Callable[[], object], /) -> None:
        """Make the running search call `wait` soon, and resume when `wait` returns. Thread-safe."""


class SearcherWrapper(Generic[Position, Move]):
    """Base class of wrappers for searchers. It delegates every method except `search`."""

    def __init__(self, searcher: Searcher[Position, Move]) -> None:
        self.searcher = searcher

    @property
    def threads(self) -> int:
        """The number of search threads, or 1 if the wrapped searcher cannot be paused."""
        return self.searcher.threads if isinstance(self.searcher, Pausable) else 1

    def pause(self, wait: Callable[[], object], /) -> None:
        """Pause the wrapped searcher. Do nothing if it cannot be paused."""
        if isinstance(self.searcher, Pausable):
            self.searcher.pause(wait)

    def clear_stop(self) -> None:
        """Clear the stop flag of the wrapped searcher."""
        self.searcher.clear_stop()

    def stop(self) -> None:
        """Stop the wrapped searcher. Thread-safe."""
        self.searcher.stop()

    def new_game(self) -> None:
        """Call the `new_game` method of the wrapped searcher."""
        self.searcher.new_game()

    def progress(self) -> Progress[Move]:
        """Return the progress of the wrapped searcher."""
        return self.searcher.progress()

    def search_wrapped(
        self, position: Position, limits: Limits[Move], lines: int
    ) -> Generator[Info[Move], None, None]:
        """Yield the results of the wrapped search. Closing the generator ends that search."""
        yield from self.searcher.search(position, limits, lines)


# Returns a searcher that uses the given one, or the given one itself if there is nothing to add.
Wrapper = Callable[[Searcher[Position, Move], SearchClock[Move]], Searcher[Position, Move]]


class SearchBackend(Protocol[Position_contra, Move]):
    """Provides the searcher for each search of an agent."""

    def get_searcher(
        self, clock: SearchClock[Move], stop: OneShotEvent, /
    ) -> Searcher[Position_contra, Move]:
        """Return the next searcher. May block until `stop` or the time limit of `clock`."""

    @property
    def runs_user_code(self) -> bool:
        """Whether searches call the user's code, which may never return."""

    def abandon(self, thread: threading.Thread, /) -> str | None:
        """Abandon the search in `thread` if user code blocks it, and return an error message.

        Return None if the search is not blocked. After a search is abandoned, `get_searcher`
        returns a new searcher. Any thread may call this method.
        """


class MoveProvider(Protocol[Position_contra, Move]):
    """A source of moves that needs no search, such as an opening book or an endgame tablebase."""

    def probe(
        self, position: Position_contra, limits: Limits[Move], lines: int, /
    ) -> Info[Move] | None:
        """Return the line to play, or None if a search is needed. The call must return quickly.

        The position has a legal move and must not be changed. `lines` is the number of lines that
        the caller asks for.
        """


class PositionAdapter(Protocol[Position, Move]):
    """The operations on the positions of one game that an agent needs."""

    def copy(self, position: Position, /) -> Position:
        """Return a copy, including the part of the move history that a search needs."""

    def moves(self, position: Position, /) -> Iterable[Move]:
        """Generate the moves that the agent may choose."""

    def terminal_score(self, position: Position, /) -> Score:
        """Return the score of a finished game for the side to move."""

    def follows(self, later: Position, move: Move, earlier: Position, /) -> bool:
        """Return whether `move` and one reply lead from `earlier` to `later`."""


class Listener(Protocol[Move]):
    """Receives the events of an agent. The methods are called in the agent's threads."""

    def info(self, info: Info[Move]) -> None:
        """Receive a principal variation."""

    def progress(self, progress: Progress[Move], seconds: float) -> None:
        """Receive a progress report, `seconds` after the start of the search."""

    def error(self, message: str) -> None:
        """Receive the error message of a failed search or job. The agent continues to run."""

    def result(self, result: Result[Move]) -> None:
        """Receive the result, which is the last event of a search."""


class AgentError(MessageError):
    """Raised if a request to an agent fails. The message is meant for the user."""


class Agent(SerialExecutor, Generic[Position, Move]):
    """Runs searches and other jobs, one at a time, in its own thread.

    Changes to these attributes take effect at the next `go`:

    - `overhead`: the delay in seconds until a result reaches the external clock.
    - `use_full_time`: whether to use the planned time even if there is only one legal move.
    - `time_factor`: the factor by which the planned time of each move is multiplied.
    - `source`: the backend that provides the searchers.

    `move_providers` are tried in order before each search, and the first line found is played.
    Each of the `wrappers` takes the searcher and returns it or a wrapper of it, in order.
    Agents with the same `scheduler` share its search slots. Without one, searches never wait.
    """

    def __init__(
        self,
        source: SearchBackend[Position, Move],
        listener: Listener[Move],
        adapter: PositionAdapter[Position, Move],
        overhead: float = 0.010,
        move_providers: Sequence[MoveProvider[Position, Move]] = (),
        wrappers: Sequence[Wrapper[Position, Move]] = (),
        scheduler: SearchScheduler | None = None,
    ) -> None:
        self.overhead = overhead
        self.use_full_time = False
        self.time_factor = 1.0
        self.source = source
        self.listener = listener
        self.adapter = adapter
        self.move_providers = move_providers
        self.wrappers = wrappers
        self.scheduler = scheduler
        self.lag_estimator = LagEstimator()
        self._last: SearchRun[Position, Move] | None = None
        super().__init__(lambda error: listener.error(describe(error)), "agent")

    def go(self, position: Position, limits: Limits[Move], lines: int = 1) -> None:
        """Stop endless jobs, then search a copy of `position` after all earlier jobs.

        If an earlier search continues, the clock of this one starts when it begins.
        """
        run = self.prepare_search(position, limits, lines, self.listener)
        self.stop_endless()
        run.waits = any(job.long_running and not job.stop.is_set() for job in self.pending())
        job = self.submit(run.run, long_running=True, endless=limits.endless)

        def start_clock() -> None:
            run.ponderhit()
            job.endless = replace(limits, ponder=False).endless

        job.ponderhit.add_callback(start_clock)  # ponderhit may come before the search begins

    def prepare_search(
        self,
        position: Position,
        limits: Limits[Move],
        lines: int,
        listener: Listener[Move],
        report_interval: ReportInterval = DEFAULT_REPORT_INTERVAL,
    ) -> SearchRun[Position, Move]:
        """Return a search of a copy of the position. The caller must run it in the agent's thread.

        Its clock starts now. `listener` receives the same events as in `go`.
        """
        if self._last is not None and (lag := self._last.lag(position, limits)) is not None:
            self.lag_estimator.update(lag)
        self._last = SearchRun(self, position, limits, lines, listener, report_interval)
        return self._last

    def run_user_code(self, job: Job, work: Callable[[], Answer]) -> Answer:
        """Run a step of `job` that calls a user's evaluation. Raise AgentError if it hangs."""
        call = BackgroundCall(work, "user code")
        if not call.wait(job.stop) and (message := _wait_or_abandon(call, self.source)):
            raise AgentError(message)
        return call.result()

    def ponderhit(self) -> None:
        """Start the clock of the ponder search, because the opponent played the expected move."""
        for job in self.pending():
            job.ponderhit.set()

    def new_game(self) -> None:
        """Treat the next `go` as the start of another game."""
        self._last = None
        self.lag_estimator.new_game()

    def close(self, timeout: float) -> bool:
        """Stop all jobs. Return whether the agent's thread ended within `timeout` seconds."""
        ended = super().close(timeout)
        if ended and self._last is not None:
            self._last.join(timeout)
            self._last = None  # releases the last search and its memory
        return ended


class SearchRun(Generic[Position, Move]):
    """One search, from the request to the result."""

    def __init__(
        self,
        agent: Agent[Position, Move],
        position: Position,
        limits: Limits[Move],
        lines: int,
        listener: Listener[Move],
        report_interval: ReportInterval,
    ) -> None:
        self._backend = agent.source
        self._adapter = agent.adapter
        self._move_providers = agent.move_providers
        self._wrappers = agent.wrappers
        self._scheduler = agent.scheduler
        self._position = position = agent.adapter.copy(position)
        self._limits = limits
        # Enough moves to limit the number of lines and to detect a forced move.
        moves = limits.search_moves or agent.adapter.moves(position)
        self._root_moves = list(islice(moves, max(lines, 2)))
        self._lines = min(lines, len(self._root_moves))
        self._listener = listener
        self._report_interval = report_interval
        self.waits = False  # for earlier searches, during which its clock does not run
        self.clock = SearchClock(
            limits,
            agent.overhead + (0.0 if agent.scheduler is None else agent.scheduler.reserve),
            only_move=not agent.use_full_time and len(self._root_moves) < 2,
            reserve=agent.lag_estimator.reserve(limits.clock),
            time_factor=agent.time_factor,
        )
        self._supervisor: threading.Thread | None = None
        self._stop = OneShotEvent()
        self._searching = OneShotEvent()  # the searcher is ready
        self._halt = OneShotEvent()  # stops the searcher: after `_stop` and the first line
        self._ponderhit = OneShotEvent()
        self._scheduled: ScheduledSearch | None = None
        self._searcher: Searcher[Position, Move] | None = None
        self._best: Info[Move] | None = None
        self._last: Info[Move] | None = None
        self._output_lock = threading.Lock()
        self._finished = False
        self._result: Result[Move] | None = None

    def lag(self, position: Position, limits: Limits[Move]) -> float | None:
        """Return the delay of this search's answer in seconds, or None if it is unknown."""
        before, after, planned_time = self._limits.clock, limits.clock, self.clock.planned_time
        move = None if self._result is None else self._result.move
        if move is None or before is None or after is None or planned_time is None:
            return None
        if self._limits.infinite or limits.infinite or self._limits.moves_to_go == 1 or self.waits:
            return None
        if not self._adapter.follows(position, move, self._position):
            return None
        return measure_lag(before, after, planned_time)

    def ponderhit(self) -> None:
        """Start the clock after a ponder search. Thread-safe."""
        self.clock.start()  # first, because the supervisor then waits for the time limit
        self._ponderhit.set()

    def run(self, job: Job) -> Result[Move]:
        """Search and report a result. A result is reported even after an error.

        The search runs in the calling thread, or in a new thread if it calls the user's code, which
        may have to be abandoned. Another thread supervises the search.
        """
        message = None
        if self.waits:
            self.clock.restart()
        # The time limit ends the search, but not the job that contains it.
        job.stop.add_callback(self._stop.set)
        self._stop.add_callback(self._halt_after_first_line)
        job.ponderhit.add_callback(self.ponderhit)
        if self._backend.runs_user_code:
            call = BackgroundCall(self._find_move, "search")
            self._supervise(call.done)
            message = _wait_or_abandon(call, self._backend)
        else:
            done = OneShotEvent()
            self._supervisor = threading.Thread(
                target=self._supervise, args=(done,), name="supervisor", daemon=True
            )
            self._supervisor.start()
            self._find_move()
            done.set()
        if self._scheduled is not None:
            self._scheduled.release()  # an abandoned search does not release its slot
        with self._output_lock:  # an abandoned search reports nothing more
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

    def join(self, timeout: float) -> None:
        """Wait for the supervising thread, which ends soon after the search."""
        if self._supervisor is not None:
            self._supervisor.join(timeout)

    def _find_move(self) -> None:
        try:
            if not self._lines:
                self._report_info(
                    Info(depth=0, score=self._adapter.terminal_score(self._position), pv=())
                )
            elif info := self._probe_providers():
                self._report_info(replace(info, time=self.clock.elapsed()))
            else:
                searcher = self._start_searcher()
                for info in searcher.search(self._position, self._limits, self._lines):
                    self._report_info(replace(info, time=self.clock.elapsed()))
                    if not self._should_continue(info):
                        break
        except BaseException as error:  # noqa: BLE001 - user code may call sys.exit
            self._report_error(describe(error))
        finally:
            if self._scheduled is not None:
                self._scheduled.release()
            if self._limits.infinite:
                wait_for_any(self._stop)
            elif self._limits.ponder:
                wait_for_any(self._stop, self._ponderhit)
            self.clock.finish()

    def _probe_providers(self) -> Info[Move] | None:
        for provider in self._move_providers:
            try:
                if info := provider.probe(self._position, self._limits, self._lines):
                    return info
            except Exception as error:  # noqa: BLE001 - the search can still find a move
                self._report_error(describe(error))
        return None

    def _start_searcher(self) -> Searcher[Position, Move]:
        """Return the searcher, which has a slot unless the search was stopped before."""
        searcher = self._backend.get_searcher(self.clock, self._stop)
        for wrap in self._wrappers:
            searcher = wrap(searcher, self.clock)
        searcher.clear_stop()
        self._halt.add_callback(searcher.stop)
        if self._scheduler is not None:
            threads = searcher.threads if isinstance(searcher, Pausable) else 1
            self._scheduled = scheduled = self._scheduler.register(
                self.clock, threads, endless=self._limits.endless
            )
            self._stop.add_callback(scheduled.stop)
            if isinstance(searcher, Pausable):
                scheduled.pause = partial(searcher.pause, scheduled.acquire)
            scheduled.acquire()
        self._searcher = searcher
        self._searching.set()
        return searcher

    def _should_continue(self, info: Info[Move]) -> bool:
        """Return whether to continue after `info`, the last line of which ends an iteration."""
        best, scheduled = self._best, self._scheduled
        if not info.complete or info.bound or info.multipv < self._lines or not best:
            return True
        if scheduled is not None:
            self.clock.waited = scheduled.wait_time
        if not self.clock.should_continue(best.pv[0], best.score, best.effort, best.visit_lead):
            return False
        return scheduled is None or scheduled.acquire()

    def _report_info(self, info: Info[Move]) -> None:
        with self._output_lock:
            if not self._finished:
                self._record_info(info)

    def _report_error(self, message: str) -> None:
        with self._output_lock:
            if not self._finished:
                with suppress(Exception):  # the result must still be reported
                    self._listener.error(message)
                    self._last = None

    def _record_info(self, info: Info[Move]) -> None:
        if info.multipv == 1 and info.pv and not self._is_inferior_bound(info):
            self._best = info
            if self._stop.is_set():
                self._halt.set()
        self._last = info
        self._listener.info(info)

    def _is_inferior_bound(self, info: Info[Move]) -> bool:
        """Return whether `info` has no exact score and no better move than the best line."""
        if self._best is None or not info.bound:
            return False
        return info.bound == "upperbound" or info.pv[0] == self._best.pv[0]

    def _make_result(self) -> Result[Move]:
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

    def _supervise(self, done: OneShotEvent) -> None:
        """Stop the search at its time limit, and report the progress of a long search."""
        wake = threading.Event()
        for event in (self._ponderhit, self._stop, done):
            event.add_callback(wake.set)
        report_at = self._report_interval.first
        try:
            while not (done.is_set() or self._stop.is_set()):
                if self.clock.remaining() <= 0.0:
                    self._stop_unless_finished()
                    break
                if self.clock.elapsed() >= report_at:
                    report_at += self._report_interval.every
                    self._report_progress()
                wake.wait(max(min(self.clock.remaining(), report_at - self.clock.elapsed()), 0.0))
                wake.clear()
        except Exception as error:  # noqa: BLE001 - the listener may fail
            self._report_error(describe(error))  # a finished search reports no errors
            self._stop_unless_finished()
        if not done.is_set():
            wait_for_any(self._searching, self._halt, done, timeout=START_TIMEOUT_S)
            wait_for_any(self._halt, done, timeout=FIRST_LINE_TIMEOUT_S)
            self._set_unless_finished(self._halt)

    def _halt_after_first_line(self) -> None:
        if self._best is not None:
            self._halt.set()

    def _stop_unless_finished(self) -> None:
        self._set_unless_finished(self._stop)

    def _set_unless_finished(self, event: OneShotEvent) -> None:
        with self._output_lock:
            if not self._finished:  # the next search may already use the same searcher
                event.set()

    def _report_progress(self) -> None:
        if self._searcher is not None:
            progress = self._searcher.progress()
            with self._output_lock:
                if not self._finished:
                    self._listener.progress(progress, self.clock.elapsed())
                    self._last = None


def _wait_or_abandon(call: BackgroundCall[Any], backend: SearchBackend[Any, Any]) -> str | None:
    while not call.wait(timeout=POLL_INTERVAL_S):
        if message := backend.abandon(call.thread):
            return message
    return None


def describe(error: BaseException) -> str:
    """Return a message for `error`, with its type and location if it is unexpected."""
    expected = (AgentError, EvaluationError, MemoryError)
    if isinstance(error, expected) and str(error):
        return str(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    line = f"{os.path.basename(frame.filename)}:{frame.lineno}"
    name = type(error).__name__
    return Message("internal error: {}: {} ({})", name, error_message(error), line)
