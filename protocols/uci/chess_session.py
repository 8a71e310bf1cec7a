"""A chess session for UCI and xboard. The options of both are in COMMON_OPTIONS.

The agent is imported and created on first use, because front ends query the options of every
installed engine and expect a fast reply.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from agent.chess.engine.levels import MAX_ELO, MAX_SKILL, MIN_ELO
from agent.chess.engine.settings import DEFAULT_MEGABYTES, FINAL_CHOICES, SEARCHES
from agent.chess.evaluation.loading import DEFAULT
from agent.evaluation import HANDCRAFTED, NETWORK, check
from openings.book_provider import MAX_MOVES, SHIPPED, VARIETIES, WEIGHTED, BookProvider
from protocols.session_context import STANDALONE, SessionContext
from protocols.uci.options import Option
from protocols.uci.parsing import UciError, shorten

if TYPE_CHECKING:
    import chess

    from agent.agent import Agent, Searcher
    from agent.chess.endgames.builtin_tablebase import BuiltinTablebase
    from agent.chess.engine.backend import ChessBackend
    from agent.clock import SearchClock
    from agent.learning.opponent_model import OpponentModel
    from agent.learning.position_learner import PositionLearner
    from agent.limits import Info, Progress, Result
    from agent.threads.serial_executor import Job

# Timeout in seconds for pending replies after the end of input. Piped commands are still answered,
# but an engine whose front end has died does not keep running.
DRAIN_TIMEOUT = 10.0
# Maximum number of queued commands of an untrusted client. Each holds a copy of the game.
MAX_PENDING = 64
WHITE_POINTS = {"1-0": 1, "0-1": -1, "1/2-1/2": 0}


class SessionComponents(NamedTuple):
    """The parts of a chess session that are created on first use."""

    engine: ChessBackend
    learning: PositionLearner[chess.Board, chess.Move]
    opponent: OpponentModel
    agent: Agent[chess.Board, chess.Move]


class ChessSession(ABC):
    """The base class of UCI and xboard sessions, which receives its agent's search reports.

    The function `send` must be thread-safe. The function `log_to` changes the debug log file.
    """

    def __init__(
        self,
        name: str,
        author: str,
        send: Callable[[str], None],
        log_to: Callable[[str], None],
        make_engine: Callable[[Callable[[str], None]], ChessBackend] | None = None,
        session_context: SessionContext = STANDALONE,
    ) -> None:
        self.finished = False
        self.permissions = session_context.permissions
        self.name = name
        self.author = author
        self.log_to = log_to
        self.multipv = 1
        self.book = BookProvider(self.report)
        self._session_context = session_context
        self._make_engine = make_engine or self._create_default_engine
        self._session_parts: SessionComponents | None = None
        self._parts_lock = Lock()
        self._send = send
        self._drain_deadline: float | None = None

    @property
    def engine(self) -> ChessBackend:
        return self._get_parts().engine

    @property
    def learning(self) -> PositionLearner[chess.Board, chess.Move]:
        return self._get_parts().learning

    @property
    def opponent(self) -> OpponentModel:
        return self._get_parts().opponent

    @property
    def agent(self) -> Agent[chess.Board, chess.Move]:
        return self._get_parts().agent

    def _get_parts(self) -> SessionComponents:
        with self._parts_lock:
            if self._session_parts is None:
                self._session_parts = self._create_parts()
            return self._session_parts

    def _create_parts(self) -> SessionComponents:
        from agent.agent import Agent
        from agent.chess.engine.board_adapter import BoardAdapter
        from agent.chess.engine.learning import ChessLearningAdapter
        from agent.learning.opponent_model import OpponentModel
        from agent.learning.position_learner import PositionLearner

        engine, opponent = self._make_engine(self.report), OpponentModel(self.report)
        learning: PositionLearner[chess.Board, chess.Move] = PositionLearner(
            ChessLearningAdapter(), self.report
        )
        self.book.adjust_weights = opponent.adjust_weights
        agent = Agent(
            engine,
            self,
            BoardAdapter(),
            move_providers=(opponent, self.book),
            # The second wraps the first, to learn also from moves that the opponent model chose.
            wrappers=(opponent.wrap, self._with_learning),
            scheduler=self._session_context.scheduler,
        )
        return SessionComponents(engine, learning, opponent, agent)

    def _create_default_engine(self, report: Callable[[str], None]) -> ChessBackend:
        from agent.chess.engine.backend import ChessBackend

        megabytes = min(DEFAULT_MEGABYTES, self.permissions.megabytes)
        return ChessBackend(report, _open_own_tables, megabytes, self._session_context.budget)

    def drain(self, timeout: float | None = None) -> bool:
        """Stop infinite searches and wait up to DRAIN_TIMEOUT seconds for pending replies.

        Return False if replies are still pending after `timeout` seconds.
        """
        if self.finished or self._session_parts is None:
            return True
        if self._drain_deadline is None:
            self._drain_deadline = time.monotonic() + DRAIN_TIMEOUT
            self.agent.stop_endless()
        remaining = self._drain_deadline - time.monotonic()
        if remaining <= 0.0:
            return True
        return self.agent.wait(remaining if timeout is None else min(timeout, remaining))

    def close(self, timeout: float) -> bool:
        if self._session_parts is None:
            return True
        deadline = time.monotonic() + timeout
        ended = self.agent.close(timeout)
        if ended:
            self.learning.close()
            self.opponent.finish()
        return self.engine.close(max(deadline - time.monotonic(), 0.0)) and ended

    @property
    def queue_is_full(self) -> bool:
        """Return whether the client is untrusted and has MAX_PENDING queued commands."""
        return not self.permissions.trusted and len(self.agent.pending()) >= MAX_PENDING

    def require_queue_space(self) -> None:
        """Raise `UciError` if the queue is full."""
        if self.queue_is_full:
            raise UciError("too many pending commands; command ignored")

    # Callbacks of the agent, the backend and the book.

    @abstractmethod
    def info(self, info: Info[chess.Move]) -> None:
        """Report a principal variation."""

    @abstractmethod
    def progress(self, progress: Progress[chess.Move], seconds: float) -> None:
        """Report the progress of a long search."""

    @abstractmethod
    def error(self, message: str) -> None:
        """Report an error."""

    @abstractmethod
    def report(self, message: str) -> None:
        """Report any other message for the user."""

    @abstractmethod
    def result(self, result: Result[chess.Move]) -> None:
        """Handle the result of a search."""

    # Changes by commands and options.

    def prepare(self, job: Job) -> None:
        """Open the book and wait until the kernel is loaded, before `readyok` is sent."""
        self.book.open()
        self.engine.wait_until_loaded(job)

    def new_game(self) -> None:
        """Start a new game when the next position is set."""
        self.agent.new_game()
        self.agent.submit(lambda job: self.engine.new_game())
        if self.learning.active:
            self.agent.submit(lambda job: self.learning.new_game())
        self.agent.submit(lambda job: self.opponent.new_game())

    def set_analysing(self, analysing: bool) -> None:
        self.agent.use_full_time = analysing
        self.change_book(lambda book: setattr(book, "analysing", analysing))
        self.change_opponent(lambda opponent: setattr(opponent, "analysing", analysing))

    def change_engine(self, change: Callable[[ChessBackend], None]) -> None:
        """Call `change` with the search backend after all pending jobs."""
        self.agent.submit(lambda job: change(self.engine))

    def change_book(self, change: Callable[[BookProvider], None]) -> None:
        """Call `change` with the book provider after all pending jobs."""
        self.agent.submit(lambda job: change(self.book))

    def change_opponent(self, change: Callable[[OpponentModel], None]) -> None:
        """Call `change` with the opponent model after all pending jobs."""
        self.agent.submit(lambda job: change(self.opponent))

    def set_opponent_clock(self, clock: float | None) -> None:
        """Set the opponent's remaining time in seconds, which affects the time management."""
        self.opponent.opponent_clock = clock
        self.agent.time_factor = self.opponent.time_factor

    def change_evaluation(self, spec: str) -> None:
        """Change the evaluation. Raise `EvaluationError` immediately if `spec` is malformed."""
        check(spec)
        self.change_engine(lambda engine: engine.set_evaluation(spec))

    def change_learning_file(self, path: str) -> None:
        """Set the file for position learning, or disable learning if `path` is empty."""

        def change(engine: ChessBackend) -> None:
            self.learning.open_file(path)
            engine.clear()

        self.change_engine(change)

    def learn_result(self, result: str, *, forfeit: bool) -> None:
        """Learn from the result of a game in PGN notation, which is `*` for an unfinished game.

        After a `forfeit`, such as a loss on time, the moves are not blamed for the result.
        """
        points = WHITE_POINTS.get(result)

        def conclude(job: Job) -> None:
            self.opponent.record_result(result, forfeit=forfeit)
            if points is not None and not forfeit:
                self.learning.record_result(lambda board: points if board.turn else -points)
            self.learning.flush()

        self.agent.submit(conclude)

    def _with_learning(
        self, searcher: Searcher[chess.Board, chess.Move], clock: SearchClock[chess.Move]
    ) -> Searcher[chess.Board, chess.Move]:
        if not self.learning.active or self.agent.use_full_time or self.opponent.off_the_record:
            return searcher
        from agent.chess.engine.limited_strength import LimitedStrengthSearch
        from agent.learning.opponent_search import OpponentAwareSearch
        from agent.learning.position_learning_searcher import PositionLearningSearcher

        inner = searcher.searcher if isinstance(searcher, OpponentAwareSearch) else searcher
        if isinstance(inner, LimitedStrengthSearch):
            return searcher
        if set_learned_moves := getattr(inner, "set_learned_moves", None):  # not a Python search
            set_learned_moves(
                self.learning.by_resulting_position, self.learning.resulting_positions
            )
        return PositionLearningSearcher(searcher, self.learning, lambda: clock.running)

    def change_log(self, path: str) -> None:
        try:
            self.log_to(path)
        except OSError as error:
            raise UciError(f"cannot open log file {shorten(path)}: {error.strerror}") from None


def _open_own_tables(report: Callable[[str], None]) -> BuiltinTablebase:
    from openings.endgame_tables import open_builtin_tablebase  # imports the kernel

    return open_builtin_tablebase(report)


def attribute_setter(name: str) -> Callable[[ChessSession, Any], None]:
    """Return an `on_change` callback that sets an attribute of the session."""
    return lambda session, value: setattr(session, name, value)


def _set_overhead(session: ChessSession, milliseconds: int) -> None:
    session.agent.overhead = milliseconds / 1e3


def _book_setter(name: str) -> Callable[[ChessSession, Any], None]:
    return lambda session, value: session.change_book(lambda book: setattr(book, name, value))


COMMON_OPTIONS: tuple[Option[ChessSession], ...] = (
    Option(
        "Hash",
        "spin",
        lambda session, value: session.change_engine(lambda engine: engine.set_megabytes(value)),
        default=DEFAULT_MEGABYTES,
        min=1,
        max=65536,
        limited_by="megabytes",
    ),
    Option(
        "Clear Hash",
        "button",
        lambda session, _: session.change_engine(lambda engine: engine.clear()),
    ),
    Option(
        "Threads",
        "spin",
        lambda session, value: session.change_engine(lambda engine: engine.set_threads(value)),
        default=1,
        min=1,
        max=256,
        limited_by="threads",
    ),
    Option("MultiPV", "spin", attribute_setter("multipv"), default=1, min=1, max=256),
    Option("Move Overhead", "spin", _set_overhead, default=10, min=0, max=5000),
    Option("OwnBook", "check", _book_setter("enabled"), default=True),
    Option(
        "BookFile",
        "string",
        lambda session, value: session.change_book(lambda book: book.set_books(value)),
        default=SHIPPED,
        requires_trust=True,
        safe_values=(SHIPPED,),
    ),
    Option(
        "BookDepth",
        "spin",
        _book_setter("depth"),
        default=MAX_MOVES,
        min=0,
        max=MAX_MOVES,
    ),
    Option(
        "BookVariety",
        "combo",
        _book_setter("variety"),
        default=WEIGHTED,
        choices=VARIETIES,
    ),
    Option(
        "UCI_LimitStrength",
        "check",
        lambda session, value: session.change_engine(lambda engine: engine.set_level(limit=value)),
        default=False,
    ),
    Option(
        "UCI_Elo",
        "spin",
        lambda session, value: session.change_engine(lambda engine: engine.set_level(elo=value)),
        default=MIN_ELO,
        min=MIN_ELO,
        max=MAX_ELO,
    ),
    Option(
        "Skill Level",
        "spin",
        lambda session, value: session.change_engine(lambda engine: engine.set_level(skill=value)),
        default=int(MAX_SKILL),
        min=0,
        max=int(MAX_SKILL),
    ),
    Option(
        "OwnTables",
        "check",
        lambda session, value: session.change_engine(
            lambda engine: engine.use_builtin_tablebase(value)
        ),
        default=True,
    ),
    Option(
        "SyzygyPath",
        "string",
        lambda session, value: session.change_engine(lambda engine: engine.use_syzygy(value)),
        requires_trust=True,
    ),
    Option(
        "GaviotaPath",
        "string",
        lambda session, value: session.change_engine(lambda engine: engine.use_gaviota(value)),
        requires_trust=True,
    ),
    Option(
        "Evaluation",
        "string",
        lambda session, value: session.change_evaluation(value or DEFAULT),
        default=DEFAULT,
        requires_trust=True,
        safe_values=(NETWORK, HANDCRAFTED.name),
    ),
    Option(
        "Search",
        "combo",
        lambda session, value: session.change_engine(lambda engine: engine.set_search(value)),
        default=SEARCHES[0],
        choices=SEARCHES,
    ),
    Option(
        "MoveSelection",
        "combo",
        lambda session, value: session.change_engine(lambda engine: engine.set_final_choice(value)),
        default=FINAL_CHOICES[0],
        choices=FINAL_CHOICES,
        old_name="Final Choice",
    ),
    Option("ExperienceFile", "string", ChessSession.change_learning_file, requires_trust=True),
    Option(
        "HabitsFile",
        "string",
        lambda session, value: session.change_opponent(lambda opponent: opponent.set_file(value)),
        requires_trust=True,
    ),
    Option("Debug Log File", "string", ChessSession.change_log, requires_trust=True),
)
