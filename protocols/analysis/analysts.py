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

from agent.game import Game
from agent.games.reader import GameReader
from agent.limits import Info, Limits, Progress, Result
from agent.player import USUAL_PACE, Pace, Player, describe
from agent.threads.task_thread import Job
from agent.threads.turns import Turns
from protocols.analysis import answers
from protocols.analysis.fields import QueryError
from protocols.analysis.query import MOST_SECONDS, Query
from protocols.analysis.visits import Searching, VisitSource

# With so many positions waiting, no more lines are read, not even what would end them.
MOST_WAITING = 200_000
LEFT_OUT = "Not known to this search, left out"

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

    def __init__(self, tell: Callable[[answers.Lines], None] | None = None) -> None:
        self.problem: str | None = None
        self.lines: answers.Lines = ()
        self._tell = tell

    def info(self, info: Info[int]) -> None:
        """Take the best line; no other is asked for."""
        self.lines = (info,)

    def progress(self, progress: Progress[int], seconds: float) -> None:
        """Tell what is known now."""
        lines = progress.lines or self.lines
        if self._tell is not None and answers.visited(lines):
            self._tell(lines)

    def error(self, message: str) -> None:
        """Take note that the search failed."""
        self.problem = message

    def result(self, result: Result[int]) -> None:
        """Take the answer, which the line says too."""


class Analyst:
    """Analyses one position after the other.

    send: takes each answer; report: takes what a person should know. turns: as a player has them.
    """

    def __init__(
        self, searching: Searching, send: Send, report: Report, turns: Turns | None = None
    ) -> None:
        self._send = send
        self._source = VisitSource(searching, report)
        self._player: Player[Game[int], int] = Player(
            self._source, AnalysisListener(), GameReader(), overhead=0.0, turns=turns
        )

    def begin(self, task: AnalysisTask, done: Callable[[Analyst], None]) -> None:
        """Analyse a position; `done` is called when it has been answered."""
        self._player.do(lambda job: self._work(job, task, done), lengthy=True)

    def stop(self) -> None:
        """End the analysis soon; what is known by then is the answer."""
        self._player.stop()

    def close(self, timeout: float) -> bool:
        """Stop everything; return whether all threads ended within about `timeout` seconds."""
        deadline = time.monotonic() + timeout
        ended = self._player.close(timeout)
        return self._source.close(max(deadline - time.monotonic(), 0.0)) and ended

    def _work(self, job: Job, task: AnalysisTask, done: Callable[[Analyst], None]) -> None:
        """Answer for a position once, whatever happens."""
        query, turn = task.query, task.turn
        try:
            answer = self._analyse(job, query, turn)
        except QueryError as error:
            answer = answers.failure(query, turn, str(error), error.field)
        except Exception as error:  # noqa: BLE001 - the other positions are analysed all the same
            answer = answers.failure(query, turn, describe(error))
        self._send(answer)
        done(self)

    def _analyse(self, job: Job, query: Query, turn: int) -> dict[str, Any]:
        game = query.game(turn)
        choice = query.choice(game)
        if choice == ():
            raise QueryError("No legal move is left to analyse", query.restricting)
        if not job.stop.is_set():
            self._source.prepare(game, query.visits, job.stop)
        if job.stop.is_set():
            return answers.no_results(query, turn)
        limits = Limits(
            nodes=query.visits,
            movetime=query.seconds,
            search_moves=choice or (),
            restrictions=query.deep,
            owners_after=query.moves_ownership,
        )

        def tell(lines: answers.Lines) -> None:
            self._send(answers.found(query, turn, game, lines, during=True))

        findings = AnalysisListener(None if query.first_report is None else tell)
        # To tell of all lines takes long; where they stand is asked for when it is needed.
        self._player.think(job, game, limits, 1, findings, _pace(query))
        if findings.problem is not None:
            return answers.failure(query, turn, findings.problem)
        lines = self._source.standing() or findings.lines
        if not answers.visited(lines):
            return answers.no_results(query, turn)
        for field, message in self._lacking(query, lines):
            self._send(answers.warning(message, query.id, field))
        return answers.found(query, turn, game, lines, during=False)

    def _lacking(self, query: Query, lines: answers.Lines) -> Iterator[tuple[str, str]]:
        """Generate what the query asks for and the search cannot do: the field, and what of it."""
        if query.ownership and lines[0].owners is None:
            yield "includeOwnership", LEFT_OUT
        if query.moves_ownership and all(line.owners_after is None for line in lines):
            yield "includeMovesOwnership", LEFT_OUT
        if query.deep and self._source.is_plain:
            yield query.restricting, "untilDepth beyond 1 is not known to this search, 1 is used"


class AnalystPool:
    """Gives positions to analysts, of whom there are as many at once as are allowed.

    hire: returns one more of them. send: takes the answers for positions nobody began with.
    """

    def __init__(self, number: int, hire: Callable[[], Analyst], send: Send) -> None:
        self._number = number
        self._hire = hire
        self._send = send
        self._changed = threading.Condition()
        self._waiting: list[tuple[int, int, AnalysisTask]] = []
        self._count = 0
        self._idle: list[Analyst] = []
        self._at_work: dict[Analyst, AnalysisTask] = {}
        self._closed = False

    def add(self, tasks: Sequence[AnalysisTask]) -> None:
        """Have positions analysed; waits while very many are waiting."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < MOST_WAITING or self._closed)
            if self._closed:
                return
            for task in tasks:
                self._count += 1
                heapq.heappush(self._waiting, (-task.priority, self._count, task))
            self._hand_out()

    def terminate(self, chosen: Callable[[AnalysisTask], bool]) -> None:
        """End the analysis of the chosen positions; each is answered with what is known."""
        with self._changed:
            given_up = [entry for entry in self._waiting if chosen(entry[2])]
            if given_up:
                self._waiting = [entry for entry in self._waiting if not chosen(entry[2])]
                heapq.heapify(self._waiting)
            for analyst, task in self._at_work.items():
                if chosen(task):
                    analyst.stop()
            self._changed.notify_all()
        for _, _, task in sorted(given_up, key=lambda entry: entry[1]):
            self._send(answers.no_results(task.query, task.turn))

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until all has been answered; return whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._at_work, timeout)

    def close(self, timeout: float) -> bool:
        """Stop everything; return whether all threads ended within about `timeout` seconds."""
        deadline = time.monotonic() + timeout
        with self._changed:
            self._closed = True
            self._waiting.clear()
            analysts = [*self._at_work, *self._idle]
            for analyst in self._at_work:
                analyst.stop()
            self._changed.notify_all()
        ended = [each.close(max(deadline - time.monotonic(), 0.0)) for each in analysts]
        return all(ended)

    def _hand_out(self) -> None:
        """Give waiting positions to those who have nothing to do; the lock is held."""
        while self._waiting and (self._idle or len(self._at_work) < self._number):
            _, _, task = heapq.heappop(self._waiting)
            analyst = self._idle.pop() if self._idle else self._hire()
            self._at_work[analyst] = task
            analyst.begin(task, self._done)
        self._changed.notify_all()

    def _done(self, analyst: Analyst) -> None:
        with self._changed:
            del self._at_work[analyst]
            self._idle.append(analyst)
            self._hand_out()


def _pace(query: Query) -> Pace:
    """Return how often a search tells where it stands."""
    if query.first_report is None:
        return USUAL_PACE
    return Pace(query.first_report, query.report_every or MOST_SECONDS)
