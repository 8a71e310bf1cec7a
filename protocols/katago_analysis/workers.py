"""A pool of workers that analyse positions in order of priority and send the replies."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agent.agent import DEFAULT_REPORT_INTERVAL, Agent, ReportInterval, describe
from agent.game import Game
from agent.games.go import Go
from agent.games.position_adapter import GamePositionAdapter
from agent.limits import Info, Limits, Progress, Result
from agent.threads.scheduler import SearchScheduler
from agent.threads.serial_executor import Job
from protocols.katago_analysis import responses
from protocols.katago_analysis.fields import QueryError
from protocols.katago_analysis.query import MAX_SECONDS, Query
from protocols.katago_analysis.visit_limited_backend import SearchSettings, VisitLimitedBackend

# Reading pauses while this many positions are queued. This also delays `terminate` actions.
MAX_PENDING = 200_000
UNSUPPORTED_MESSAGE = "Not supported by this search, omitted"

Send = Callable[[dict[str, Any]], None]
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class AnalysisTask:
    """The position after `turn` moves of a query's game."""

    query: Query
    turn: int
    priority: int


class AnalysisListener:
    """Records the best line and the error message of one search, and passes on progress reports."""

    def __init__(self, on_progress: Callable[[responses.Lines], None] | None = None) -> None:
        self.error_message: str | None = None
        self.lines: responses.Lines = ()
        self._on_progress = on_progress

    def info(self, info: Info[int]) -> None:
        self.lines = (info,)

    def progress(self, progress: Progress[int], seconds: float) -> None:
        lines = progress.lines or self.lines
        if self._on_progress is not None and responses.visited_lines(lines):
            self._on_progress(lines)

    def error(self, message: str) -> None:
        self.error_message = message

    def result(self, result: Result[int]) -> None:
        """Ignore the result, because the best line contains the same data."""


class AnalysisWorker:
    """Analyses one position at a time in its own thread."""

    def __init__(
        self,
        search_settings: SearchSettings,
        send: Send,
        report: Report,
        scheduler: SearchScheduler | None = None,
    ) -> None:
        self._send = send
        self._backend = VisitLimitedBackend(search_settings, report)
        self._agent: Agent[Game[int], int] = Agent(
            self._backend,
            AnalysisListener(),
            GamePositionAdapter(),
            overhead=0.0,
            scheduler=scheduler,
        )
        # The last query, its position, and the number of moves before it.
        self._last: tuple[Query, Go, int] | None = None

    def start(self, task: AnalysisTask, on_done: Callable[[AnalysisWorker], None]) -> None:
        """Start analysing a position. Call `on_done` after the reply has been sent."""
        self._agent.submit(lambda job: self._run(job, task, on_done), long_running=True)

    def stop(self) -> None:
        """Stop the analysis. The worker then sends the result found so far."""
        self._agent.stop()

    def close(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        ended = self._agent.close(timeout)
        return self._backend.close(max(deadline - time.monotonic(), 0.0)) and ended

    def _run(self, job: Job, task: AnalysisTask, on_done: Callable[[AnalysisWorker], None]) -> None:
        query, turn = task.query, task.turn
        try:
            answer = self._analyse(job, query, turn)
        except QueryError as error:
            answer = responses.failure(query, turn, str(error), error.field)
        except Exception as error:  # noqa: BLE001 - other positions must still be analysed
            answer = responses.failure(query, turn, describe(error))
        self._send(answer)
        on_done(self)

    def _analyse(self, job: Job, query: Query, turn: int) -> dict[str, Any]:
        game = self._game(query, turn)
        root_moves = query.root_moves(game)
        if root_moves == ():
            raise QueryError("No legal move remains to analyse", query.restriction_field)
        if not job.stop.is_set():
            self._backend.prepare(game, query.visits, job.stop)
        if job.stop.is_set():
            self._last = None
            return responses.no_results(query, turn)
        limits = Limits(
            nodes=query.visits,
            movetime=query.seconds,
            search_moves=root_moves or (),
            restrictions=query.deep_restrictions,
            moves_ownership=query.moves_ownership,
        )

        def send_progress(lines: responses.Lines) -> None:
            self._send(responses.analysis_result(query, turn, game, lines, is_during_search=True))

        listener = AnalysisListener(None if query.first_report_after is None else send_progress)
        # Only one line is reported during the search, which is faster. The backend returns all
        # lines at the end.
        self._agent.prepare_search(game, limits, 1, listener, _report_interval(query)).run(job)
        if listener.error_message is not None:
            return responses.failure(query, turn, listener.error_message)
        lines = self._backend.current_lines() or listener.lines
        if not responses.visited_lines(lines):
            return responses.no_results(query, turn)
        for field, message in self._unsupported_fields(query, lines):
            self._send(responses.warning(message, query.id, field))
        return responses.analysis_result(query, turn, game, lines, is_during_search=False)

    def _game(self, query: Query, turn: int) -> Go:
        """Return the game after `turn` moves, continued from the previous position if possible."""
        last, self._last = self._last, None  # an illegal move leaves it incomplete
        if last is None or last[0] is not query or last[2] > turn:
            last = query, query.start(), 0
        _, game, played = last
        query.play(game, played, turn)
        if turn < query.turns[-1][0]:
            self._last = query, game, turn
        return query.reopened(game)

    def _unsupported_fields(
        self, query: Query, lines: responses.Lines
    ) -> Iterator[tuple[str, str]]:
        if query.ownership and lines[0].ownership is None:
            yield "includeOwnership", UNSUPPORTED_MESSAGE
        if query.moves_ownership and all(line.moves_ownership is None for line in lines):
            yield "includeMovesOwnership", UNSUPPORTED_MESSAGE
        if query.deep_restrictions and self._backend.is_uncompiled:
            yield (
                query.restriction_field,
                "untilDepth above 1 is not supported by this search, using 1",
            )


class AnalysisPool:
    """Distributes positions among at most `max_workers` workers.

    The function `send` writes the replies for positions that are removed from the queue.
    """

    def __init__(
        self, max_workers: int, create_worker: Callable[[], AnalysisWorker], send: Send
    ) -> None:
        self._max_workers = max_workers
        self._create_worker = create_worker
        self._send = send
        self._changed = threading.Condition()
        self._waiting: list[tuple[int, int, AnalysisTask]] = []
        self._task_count = 0
        self._idle: list[AnalysisWorker] = []
        self._busy: dict[AnalysisWorker, AnalysisTask] = {}
        self._closed = False

    def add(self, tasks: Sequence[AnalysisTask]) -> None:
        """Queue positions. Block while MAX_PENDING or more positions are queued."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < MAX_PENDING or self._closed)
            if self._closed:
                return
            for task in tasks:
                self._task_count += 1
                heapq.heappush(self._waiting, (-task.priority, self._task_count, task))
            self._dispatch()

    def terminate(self, is_selected: Callable[[AnalysisTask], bool]) -> None:
        """Stop the analysis of the selected positions. A reply is sent for each of them."""
        with self._changed:
            removed = [entry for entry in self._waiting if is_selected(entry[2])]
            if removed:
                self._waiting = [entry for entry in self._waiting if not is_selected(entry[2])]
                heapq.heapify(self._waiting)
            for worker, task in self._busy.items():
                if is_selected(task):
                    worker.stop()
            self._changed.notify_all()
        for _, _, task in sorted(removed, key=lambda entry: entry[1]):
            self._send(responses.no_results(task.query, task.turn))

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until all positions have replies. Return False after `timeout` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._busy, timeout)

    def close(self, timeout: float) -> bool:
        """Stop all threads. Return whether they ended within about `timeout` seconds."""
        deadline = time.monotonic() + timeout
        with self._changed:
            self._closed = True
            self._waiting.clear()
            workers = [*self._busy, *self._idle]
            for worker in self._busy:
                worker.stop()
            self._changed.notify_all()
        ended = [worker.close(max(deadline - time.monotonic(), 0.0)) for worker in workers]
        return all(ended)

    def _dispatch(self) -> None:
        """Assign queued positions to idle workers. The caller must hold the lock."""
        while self._waiting and (self._idle or len(self._busy) < self._max_workers):
            _, _, task = heapq.heappop(self._waiting)
            worker = self._idle.pop() if self._idle else self._create_worker()
            self._busy[worker] = task
            worker.start(task, self._on_done)
        self._changed.notify_all()

    def _on_done(self, worker: AnalysisWorker) -> None:
        with self._changed:
            del self._busy[worker]
            self._idle.append(worker)
            self._dispatch()


def _report_interval(query: Query) -> ReportInterval:
    if query.first_report_after is None:
        return DEFAULT_REPORT_INTERVAL
    return ReportInterval(query.first_report_after, query.report_every or MAX_SECONDS)
