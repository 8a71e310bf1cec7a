"""The agent: asked to go, it thinks in a thread of its own and answers with one move.

Whatever is asked of a player is done in order by that one thread, so a caller never waits: a
`go` during a search stops that search, whose answer is given first. Every `go` gets exactly one
result, also when it is stopped before it began, when there is no move, or when a search fails.

The search itself has a thread apart, which the player's thread watches: where a user's evaluation
keeps it from ending in time, it is given up, and the last completed iteration is the answer.
"""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from agent.clock import Clock
from agent.evaluation import EvaluationError
from agent.lag import Lag, follows, lag_between
from agent.limits import Cp, Info, Limits, Mate, Progress, Result
from agent.threads.apart import Apart
from agent.threads.latch import Latch, wait_for_any
from agent.threads.task_thread import Job, TaskThread

if TYPE_CHECKING:
    import chess

Position = TypeVar("Position", contravariant=True)
Move = TypeVar("Move")

# A long search tells where it stands: seconds to the first report, and between reports.
FIRST_PROGRESS = 3.0
PROGRESS_INTERVAL = 1.0
# A search that was stopped ends within a millisecond; if not, see that often what keeps it.
GLANCE = 0.005

Answer = TypeVar("Answer")


class Searcher(Protocol):
    """A chess search that its caller drives: it prints nothing and reads no clock."""

    def deepen(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int = 1
    ) -> Iterator[Info[chess.Move]]:
        """Search deeper and deeper; yield each iteration's lines, multipv 1..lines in order.

        After a stop it may yield the better line of an iteration cut short (complete=False).
        Obeys depth, nodes, mate and search_moves; time is the caller's, who calls `stop`. Yields
        at least one Info, even when stopped at once; is never called without a legal move. May
        raise `agent.evaluation.EvaluationError` at any point. The moves are in the board's own
        notation, so `move.uci()` is their text.
        """

    def arm(self) -> None:
        """Reset the stop flag, before a search."""

    def stop(self) -> None:
        """End the search soon; from any thread, and remembered until `arm`."""

    def new_game(self) -> None:
        """Forget everything that can change a search."""

    def progress(self) -> Progress[chess.Move]:
        """Tell where the running search stands; from any thread."""


class Source(Protocol):
    """Where a player gets its searcher from, one search at a time."""

    def searcher(self, clock: Clock[chess.Move], stop: Latch) -> Searcher:
        """Return who searches now. May wait for it, until `stop` or as the clock allows."""

    def give_up(self, thread: threading.Thread) -> str | None:
        """Give up what that thread does with the searcher, if a user's evaluation keeps it.

        Return what to tell the user then; the next searcher is another one. From any thread,
        while that thread is the only one to use the source.
        """


class Advisor(Protocol[Position, Move]):
    """Who may know the move without a search: an opening book, an endgame table.

    A position is a `chess.Board` in chess, in any other game a `Game`, which is the same after.
    """

    def advise(self, position: Position, limits: Limits[Move], lines: int, /) -> Info[Move] | None:
        """Return the line to play, or None where a search is to decide.

        Called from the player's thread, never without a legal move; must not take long. lines:
        how many best lines are asked for. The moves are in the position's own notation.
        """


ChessAdvisor: TypeAlias = "Advisor[chess.Board, chess.Move]"


class Listener(Protocol):
    """Who is told what a player thinks; called from the player's threads."""

    def info(self, info: Info[chess.Move]) -> None:
        """Take one line of play."""

    def progress(self, progress: Progress[chess.Move], seconds: float) -> None:
        """Take a sign of life from a long search."""

    def error(self, message: str) -> None:
        """Take note that a search or a task failed; the player goes on."""

    def result(self, result: Result[chess.Move]) -> None:
        """Take the answer: the last call of a search."""


class PlayerError(Exception):
    """What was asked for cannot be done; the message says why."""


class Player(TaskThread):
    """Plays and does other lengthy work, one thing at a time, in a thread of its own.

    overhead: seconds between a result and the clock that times it. patient: use the time that is
    given even where there is no choice of move. Both hold from the next `go` on. advisors: asked
    in order before each search; the first that knows a line is followed.
    """

    def __init__(
        self,
        source: Source,
        listener: Listener,
        overhead: float = 0.010,
        advisors: Sequence[ChessAdvisor] = (),
    ) -> None:
        self.overhead = overhead
        self.patient = False
        self._source = source
        self._listener = listener
        self._advisors = advisors
        self.lag = Lag()
        self._last: _Search | None = None
        super().__init__(lambda error: listener.error(describe(error)), "player")

    def go(self, board: chess.Board, limits: Limits[chess.Move], lines: int = 1) -> None:
        """Think about a position, which is copied; what was going on is stopped first."""
        if self._last is not None and (lag := self._last.lag(board, limits)) is not None:
            self.lag.learn(lag)
        forced = not self.patient and _forced(board, limits)
        clock = Clock(limits, self.overhead, forced, reserve=self.lag.reserve(limits.clock))
        search = _Search(
            board.copy(), limits, lines, clock, self._source, self._listener, self._advisors
        )
        self._last = search
        self.stop()
        job = Job(search.run, lengthy=True, endless=limits.endless)
        job.ponderhit.then(clock.start)  # which may come before the search begins
        self._ask(job)

    def apart(self, job: Job, work: Callable[[], Answer]) -> Answer:
        """Do work of a job that calls a user's evaluation; raise PlayerError if it is given up."""
        apart = Apart(work, "apart")
        if not apart.wait(job.stop) and (message := _end(apart, self._source)):
            raise PlayerError(message)
        return apart.result()

    def ponderhit(self) -> None:
        """Go on by the clock: the move that was pondered on has been played."""
        for job in self.asked():
            job.ponderhit.set()

    def new_game(self) -> None:
        """Take the next position for one of another game."""
        self._last = None
        self.lag.new_game()


class _Search:
    """One search, from `go` to its result."""

    def __init__(
        self,
        board: chess.Board,
        limits: Limits[chess.Move],
        lines: int,
        clock: Clock[chess.Move],
        source: Source,
        listener: Listener,
        advisors: Sequence[ChessAdvisor],
    ) -> None:
        self._board = board
        self._limits = limits
        self._lines = min(lines, sum(1 for _ in _root_moves(board, limits)))
        self._clock = clock
        self._source = source
        self._listener = listener
        self._advisors = advisors
        self._searcher: Searcher | None = None
        self._best: Info[chess.Move] | None = None
        self._last: Info[chess.Move] | None = None
        self._telling = threading.Lock()
        self._answering = False
        self._result: Result[chess.Move] | None = None

    def lag(self, board: chess.Board, limits: Limits[chess.Move]) -> float | None:
        """Return how much later than meant the answer reached our clock, if the next `go` tells.

        It does if it is about our next move of the same game, with no time control in between.
        """
        before, after, meant = self._limits.clock, limits.clock, self._clock.meant
        move = None if self._result is None else self._result.move
        if move is None or before is None or after is None or meant is None:
            return None
        if self._limits.infinite or limits.infinite or self._limits.moves_to_go == 1:
            return None
        if not follows(board, move, self._board):
            return None
        return lag_between(before, after, meant)

    def run(self, job: Job) -> None:
        """Think and answer, whatever happens."""
        thinking = Apart(lambda: self._work(job), "search")
        try:
            self._watch(job, thinking)
        except Exception as error:  # noqa: BLE001 - whoever listens may fail
            job.stop.set()
            self._report(describe(error))
        message = _end(thinking, self._source)
        with self._telling:  # a search that was given up is silent from here
            self._answering = True
        if message:
            self._listener.error(message)
            self._last = None
        self._clock.end()
        self._result = self._conclude()
        self._listener.result(self._result)

    def _work(self, job: Job) -> None:
        """Think, and wait with the answer where the protocol says so."""
        try:
            if not self._lines:
                score = Mate(0) if self._board.is_check() else Cp(0)
                self._tell(Info(depth=0, score=score, pv=()))
            elif advice := self._advice():
                self._tell(replace(advice, time=self._clock.elapsed()))
            else:
                self._think(job)
        except BaseException as error:  # noqa: BLE001 - a user's code may even exit
            self._report(describe(error))
        finally:
            self._hold(job)
            self._clock.end()

    def _advice(self) -> Info[chess.Move] | None:
        """Return what the first advisor knows; one that fails costs no move, only a message."""
        for advisor in self._advisors:
            try:
                if advice := advisor.advise(self._board, self._limits, self._lines):
                    return advice
            except Exception as error:  # noqa: BLE001 - there is still the search
                self._report(describe(error))
        return None

    def _think(self, job: Job) -> None:
        searcher = self._source.searcher(self._clock, job.stop)
        searcher.arm()
        job.stop.then(searcher.stop)
        self._searcher = searcher
        for info in searcher.deepen(self._board, self._limits, self._lines):
            self._tell(replace(info, time=self._clock.elapsed()))
            if not info.complete or info.bound or info.multipv < self._lines or not self._best:
                continue
            best = self._best
            if not self._clock.another_iteration(best.pv[0], best.score, best.effort):
                break

    def _tell(self, info: Info[chess.Move]) -> None:
        """Pass a line on, and remember it if it says what to play, unless it comes too late."""
        with self._telling:
            if not self._answering:
                self._note(info)

    def _report(self, message: str) -> None:
        """Pass on what went wrong, unless it comes too late."""
        with self._telling:
            if not self._answering:
                self._listener.error(message)
                self._last = None

    def _note(self, info: Info[chess.Move]) -> None:
        if info.multipv == 1 and info.pv and (info.bound != "upperbound" or not self._best):
            self._best = info
        self._last = info
        self._listener.info(info)

    def _hold(self, job: Job) -> None:
        """Wait with the answer where the protocol says so, however early the search is done."""
        if self._limits.infinite:
            wait_for_any(job.stop)
        elif self._limits.ponder:
            wait_for_any(job.stop, job.ponderhit)

    def _conclude(self) -> Result[chess.Move]:
        """Make the last line reported the one that is played, with an exact score."""
        best = self._best
        if best is None:
            return Result(next(_root_moves(self._board, self._limits), None), info=self._last)
        if (self._last is not best or best.bound) and self._searcher is not None:
            now = self._searcher.progress()
            best = replace(
                best,
                bound="",
                nodes=max(now.nodes, best.nodes),
                hashfull=now.hashfull,
                time=self._clock.elapsed(),
            )
            self._note(best)
        return Result(best.pv[0], best.pv[1] if len(best.pv) > 1 else None, best)

    def _watch(self, job: Job, thinking: Apart[None]) -> None:
        """Stop the search at the hard limit; once in a while, tell where it stands.

        Returns when the search is over, or stopped.
        """
        wake = threading.Event()
        for latch in (job.ponderhit, job.stop, thinking.over):
            latch.then(wake.set)
        report_at = FIRST_PROGRESS
        while not (thinking.over.is_set() or job.stop.is_set()):
            if self._clock.remaining() <= 0.0:
                job.stop.set()
                return
            if self._clock.elapsed() >= report_at:
                report_at += PROGRESS_INTERVAL
                if self._searcher is not None:
                    self._listener.progress(self._searcher.progress(), self._clock.elapsed())
                    self._last = None
            wake.wait(max(min(self._clock.remaining(), report_at - self._clock.elapsed()), 0.0))
            wake.clear()


def _end(apart: Apart[Any], source: Source) -> str | None:
    """Wait until it is over, after a stop; or give it up, and return what to tell the user."""
    while not apart.wait(timeout=GLANCE):
        if message := source.give_up(apart.thread):
            return message
    return None


def _root_moves(board: chess.Board, limits: Limits[chess.Move]) -> Iterator[chess.Move]:
    if limits.search_moves:
        return iter(limits.search_moves)
    return iter(board.legal_moves)


def _forced(board: chess.Board, limits: Limits[chess.Move]) -> bool:
    moves = _root_moves(board, limits)
    next(moves, None)
    return next(moves, None) is None


def describe(error: BaseException) -> str:
    """Return the message of an error that was foreseen, type and place too of one that was not."""
    foreseen = (PlayerError, EvaluationError, MemoryError)
    if isinstance(error, foreseen) and str(error):
        return str(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(frame.filename)}:{frame.lineno}"
    return f"internal error: {type(error).__name__}: {error} ({place})"
