"""A chess session, which consists of an engine, a book, learning and an agent.

The agent is imported and created on first use, because front ends query the options of every
installed engine and expect a fast reply.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Protocol

from agent.chess.engine.settings import DEFAULT_MEGABYTES
from agent.evaluation import check
from agent.games.variants import STANDARD, ChessRules
from openings.book_provider import BookProvider
from protocols.current_line import others_may_run
from protocols.reply_deadline import ReplyDeadline
from protocols.session_context import STANDALONE, SessionContext
from protocols.uci.options import Option
from protocols.uci.parsing import UciError, shorten

if TYPE_CHECKING:
    import chess

    from agent.agent import Agent, Searcher
    from agent.chess.endgames.builtin_tablebase import BuiltinTablebase
    from agent.chess.engine.backend import ChessBackend
    from agent.clock import SearchClock
    from agent.learning.chess_opponent_model import ChessOpponentModel
    from agent.learning.position_learner import PositionLearner
    from agent.limits import Info, Progress, Result
    from agent.threads.serial_executor import Job

# Timeout in seconds for each pending reply after the end of input. Piped commands are still
# answered, but an engine whose front end has died does not keep running.
DRAIN_TIMEOUT = 10.0
# Maximum number of queued commands of an untrusted client. Each holds a copy of the game.
MAX_PENDING = 64
WHITE_POINTS = {"1-0": 1, "0-1": -1, "1/2-1/2": 0}


class SessionComponents(NamedTuple):
    """The parts of a chess session that are created on first use."""

    engine: ChessBackend
    learning: PositionLearner[chess.Board, chess.Move]
    opponent: ChessOpponentModel
    agent: Agent[chess.Board, chess.Move]


class ChessListener(Protocol):
    """Receives the events of a chess session, in the threads of its agent."""

    def info(self, info: Info[chess.Move]) -> None:
        """Receive a principal variation."""

    def progress(self, progress: Progress[chess.Move], seconds: float) -> None:
        """Receive the progress of a long search."""

    def error(self, message: str) -> None:
        """Receive the error message of a failed search or change."""

    def report(self, message: str) -> None:
        """Receive any other message for the user."""

    def result(self, result: Result[chess.Move]) -> None:
        """Receive the result of a search."""


class ChessSession:
    """The engine, book, learning and agent of a session, and the settings that options change.

    The function `log_to` changes the debug log file. It may raise `OSError`.
    """

    def __init__(
        self,
        listener: ChessListener,
        options: tuple[Option, ...],
        log_to: Callable[[str], None] = lambda path: None,
        make_engine: Callable[[Callable[[str], None]], ChessBackend] | None = None,
        session_context: SessionContext = STANDALONE,
    ) -> None:
        self.permissions = session_context.permissions
        self.options = tuple(option.for_permissions(self.permissions) for option in options)
        self.multipv = 1
        self.chess960 = False
        self.variant = STANDARD
        self.show_wdl = False
        self.listener = listener
        self.book = BookProvider(listener.report)
        self._log_to = log_to
        self._session_context = session_context
        self._make_engine = make_engine or self._create_default_engine
        self._session_parts: SessionComponents | None = None
        self._parts_lock = Lock()
        self._drain_deadline = ReplyDeadline()

    @property
    def engine(self) -> ChessBackend:
        return self._get_parts().engine

    @property
    def learning(self) -> PositionLearner[chess.Board, chess.Move]:
        return self._get_parts().learning

    @property
    def opponent(self) -> ChessOpponentModel:
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
        from agent.learning.chess_opponent_model import ChessOpponentModel
        from agent.learning.position_learner import PositionLearner

        report = self.listener.report
        engine, opponent = self._make_engine(report), ChessOpponentModel(report)
        learning: PositionLearner[chess.Board, chess.Move] = PositionLearner(
            ChessLearningAdapter(), report
        )
        self.book.adjust_weights = opponent.adjust_weights
        agent = Agent(
            engine,
            self.listener,
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
        """Stop infinite searches and wait up to DRAIN_TIMEOUT seconds for each pending reply.

        Return False if replies are still pending after `timeout` seconds.
        """
        if self._session_parts is None:
            return True
        if not self._drain_deadline.is_set:
            self.agent.stop_endless()
        remaining = self._drain_deadline.remaining(len(self.agent.pending()), DRAIN_TIMEOUT)
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

    def require_queue_space(self, command: str) -> None:
        """Raise `UciError` with the name of the command if the queue is full."""
        if self.queue_is_full:
            raise UciError(f"too many pending commands; ignored: {command}")

    def wait_for_queue_space(self) -> None:
        """Wait until the queue is not full, and stop the search that would never end."""
        if self.queue_is_full:
            self.agent.stop_endless()
            with others_may_run():
                self.agent.wait(max_pending=MAX_PENDING - 1)

    # Changes by commands and options.

    def prepare(self, job: Job, *, unless_compiling: bool = False) -> None:
        """Open the book and wait until the kernel is loaded, before `readyok` is sent.

        With `unless_compiling`, do not wait for a kernel that must be compiled.
        """
        self.book.open()
        self.engine.wait_until_loaded(job, unless_compiling=unless_compiling)

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

    @property
    def rules(self) -> ChessRules:
        """The rules of the next position."""
        return ChessRules(self.variant, self.chess960)

    def change_opponent(self, change: Callable[[ChessOpponentModel], None]) -> None:
        """Call `change` with the opponent model after all pending jobs."""
        self.agent.submit(lambda job: change(self.opponent))

    def set_opponent_clock(self, clock: float | None) -> None:
        """Set the opponent's remaining time in seconds, which affects the time management."""
        self.opponent.opponent_clock = clock
        self.agent.time_factor = self.opponent.time_factor

    def change_variant(self, variant: str) -> None:
        """Play another variant from the next position on."""
        if variant != self.variant:
            self.variant = variant
            self.change_engine(lambda engine: engine.set_variant(variant))

    def change_evaluation(self, spec: str) -> None:
        """Change the evaluation. Raise `EvaluationError` immediately if `spec` is malformed."""
        check(spec)
        self.change_engine(lambda engine: engine.set_evaluation(spec))

    def set_opponent(self, opponent: str) -> None:
        """Set the opponent from `TITLE ELO computer|human NAME`, or clear it for an empty text."""
        words = opponent.split(maxsplit=3)
        if opponent and (len(words) < 4 or words[2] not in ("computer", "human")):
            raise UciError(
                f"UCI_Opponent: invalid value {shorten(opponent)} "
                "(expected TITLE ELO computer|human NAME)"
            )
        name = words[3] if opponent else ""
        self.change_opponent(lambda opponent: opponent.set_opponent(name))
        if opponent:
            title = "" if words[0] == "none" else f"{words[0]} "
            elo = "" if words[1] == "none" else f" ({words[1]})"
            self.listener.report(f"opponent: {title}{name}{elo}")

    def change_learning_file(self, path: str) -> None:
        """Set the file for position learning, or disable learning if `path` is empty."""

        def change(engine: ChessBackend) -> None:
            self.learning.open_file(path)
            engine.clear()

        self.change_engine(change)

    def learn_result(self, result: str, *, forfeit: bool) -> None:
        """Learn from a game's result, in PGN notation. An unfinished game has the result `*`.

        After a `forfeit`, such as a loss on time, position learning ignores the result.
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
        if self.engine.variant != STANDARD:
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
            self._log_to(path)
        except OSError as error:
            raise UciError(f"cannot open log file {shorten(path)}: {error.strerror}") from None


def _open_own_tables(report: Callable[[str], None]) -> BuiltinTablebase:
    from openings.endgame_tables import open_builtin_tablebase  # imports the kernel

    return open_builtin_tablebase(report)
