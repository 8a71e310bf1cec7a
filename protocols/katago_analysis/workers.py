"""Who analyses positions: several at a time, the most urgent first, each with a search of its own.

What has been analysed is told at once, from the thread of whoever did it.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agent.agent import DEFAULT_REPORT_INTERVAL, Agent, ReportInterval, describe
from agent.game import Game
from agent.games.position_adapter import GamePositionAdapter
from agent.limits import Info, Limits, Progress, Result
from agent.threads.scheduler import SearchScheduler
from agent.threads.serial_executor import Job
from protocols.katago_analysis import responses
from protocols.katago_analysis.fields import QueryError
from protocols.katago_analysis.query import MAX_SECONDS, Query
from protocols.katago_analysis.visit_limited_backend import SearchSettings, VisitLimitedBackend

# With so many positions waiting, no more lines are read, not even what would end them.
MAX_PENDING = 200_000
UNSUPPORTED_MESSAGE = "Not known to this search, left out"

Send = Callable[[dict[str, Any]], None]
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class AnalysisTask:
    """One position to be analysed: that of a query after so many moves."""

    query: Query
    turn: int
    priority: int


class AnalysisListener:
    """The listener of one search: its best line, and what went wrong, if anything did.

    tell: takes all lines as they stand, as often as the player's pace says.
    """

    def __init__(self, tell: Callable[[responses.Lines], None] | None = None) -> None:
        self.error_message: str | None = None
        self.lines: responses.Lines = ()
        self._tell = tell

    def info(self, info: Info[int]) -> None:
        """Take the best line; no other is asked for."""
        self.lines = (info,)

    def progress(self, progress: Progress[int], seconds: float) -> None:
        """Tell what is known now."""
        lines = progress.lines or self.lines
        if self._tell is not None and responses.visited_lines(lines):
            self._tell(lines)

    def error(self, message: str) -> None:
        """Take note that the search failed."""
        self.error_message = message

    def result(self, result: Result[int]) -> None:
        """Take the answer, which the line says too."""


class AnalysisWorker:
    """Analyses one position after the other.

    send: takes each answer; report: takes what a person should know. turns: as a player has them.
    """

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

    def start(self, task: AnalysisTask, on_done: Callable[[AnalysisWorker], None]) -> None:
        """Analyse a position; `done` is called when it has been answered."""
        self._agent.submit(lambda job: self._run(job, task, on_done), long_running=True)

    def stop(self) -> None:
        """End the analysis soon; what is known by then is the answer."""
        self._agent.stop()

    def close(self, timeout: float) -> bool:
        """Stop everything; return whether all threads ended within about `timeout` seconds."""
        deadline = time.monotonic() + timeout
        ended = self._agent.close(timeout)
        return self._backend.close(max(deadline - time.monotonic(), 0.0)) and ended

    def _run(self, job: Job, task: AnalysisTask, on_done: Callable[[AnalysisWorker], None]) -> None:
        """Answer for a position once, whatever happens."""
        query, turn = task.query, task.turn
        try:
            answer = self._analyse(job, query, turn)
        except QueryError as error:
            answer = responses.failure(query, turn, str(error), error.field)
        except Exception as error:  # noqa: BLE001 - the other positions are analysed all the same
            answer = responses.failure(query, turn, describe(error))
        self._send(answer)
        on_done(self)

    def _analyse(self, job: Job, query: Query, turn: int) -> dict[str, Any]:
        game = query.game(turn)
        choice = query.root_moves(game)
        if choice == ():
            raise QueryError("No legal move is left to analyse", query.restriction_field)
        if not job.stop.is_set():
            self._backend.prepare(game, query.visits, job.stop)
        if job.stop.is_set():
            return responses.no_results(query, turn)
        limits = Limits(
            nodes=query.visits,
            movetime=query.seconds,
            search_moves=choice or (),
            restrictions=query.deep_restrictions,
            moves_ownership=query.moves_ownership,
        )

        def tell(lines: responses.Lines) -> None:
            self._send(responses.analysis_result(query, turn, game, lines, is_during_search=True))

        findings = AnalysisListener(None if query.first_report_after is None else tell)
        # To tell of all lines takes long; where they stand is asked for when it is needed.
        self._agent.think(job, game, limits, 1, findings, _report_interval(query))
        if findings.error_message is not None:
            return responses.failure(query, turn, findings.error_message)
        lines = self._backend.current_lines() or findings.lines
        if not responses.visited_lines(lines):
            return responses.no_results(query, turn)
        for field, message in self._unsupported_fields(query, lines):
            self._send(responses.warning(message, query.id, field))
        return responses.analysis_result(query, turn, game, lines, is_during_search=False)

    def _unsupported_fields(
        self, query: Query, lines: responses.Lines
    ) -> Iterator[tuple[str, str]]:
        """Generate what the query asks for and the search cannot do: the field, and what of it."""
        if query.ownership and lines[0].ownership is None:
            yield "includeOwnership", UNSUPPORTED_MESSAGE
        if query.moves_ownership and all(line.moves_ownership is None for line in lines):
            yield "includeMovesOwnership", UNSUPPORTED_MESSAGE
        if query.deep_restrictions and self._backend.is_uncompiled:
            yield (
                query.restriction_field,
                "untilDepth beyond 1 is not known to this search, 1 is used",
            )


class AnalysisPool:
    """Gives positions to analysts, of whom there are as many at once as are allowed.

    hire: returns one more of them. send: takes the answers for positions nobody began with.
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
        """Have positions analysed; waits while very many are waiting."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < MAX_PENDING or self._closed)
            if self._closed:
                return
            for task in tasks:
                self._task_count += 1
                heapq.heappush(self._waiting, (-task.priority, self._task_count, task))
            self._dispatch()

    def terminate(self, chosen: Callable[[AnalysisTask], bool]) -> None:
        """End the analysis of the chosen positions; each is answered with what is known."""
        with self._changed:
            given_up = [entry for entry in self._waiting if chosen(entry[2])]
            if given_up:
                self._waiting = [entry for entry in self._waiting if not chosen(entry[2])]
                heapq.heapify(self._waiting)
            for worker, task in self._busy.items():
                if chosen(task):
                    worker.stop()
            self._changed.notify_all()
        for _, _, task in sorted(given_up, key=lambda entry: entry[1]):
            self._send(responses.no_results(task.query, task.turn))

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until all has been answered; return whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._busy, timeout)

    def close(self, timeout: float) -> bool:
        """Stop everything; return whether all threads ended within about `timeout` seconds."""
        deadline = time.monotonic() + timeout
        with self._changed:
            self._closed = True
            self._waiting.clear()
            analysts = [*self._busy, *self._idle]
            for worker in self._busy:
                worker.stop()
            self._changed.notify_all()
        ended = [each.close(max(deadline - time.monotonic(), 0.0)) for each in analysts]
        return all(ended)

    def _dispatch(self) -> None:
        """Give waiting positions to those who have nothing to do; the lock is held."""
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
    """Return how often a search tells where it stands."""
    if query.first_report_after is None:
        return DEFAULT_REPORT_INTERVAL
    return ReportInterval(query.first_report_after, query.report_every or MAX_SECONDS)
