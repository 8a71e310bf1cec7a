"""What every protocol of chess drives: the engine, its book and a player, and their options.

SHARED, at the end, are the options that mean the same in each of them. Who plays is imported and
made when that is first needed, and not to say who this is and which options there are: front ends
ask that of all engines that they have.
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

    from agent.agent import Agent
    from agent.chess.endgames.builtin_tablebase import BuiltinTablebase
    from agent.chess.engine.backend import ChessBackend
    from agent.learning.opponent_model import OpponentModel
    from agent.learning.position_learner import PositionLearner
    from agent.limits import Info, Progress, Result
    from agent.threads.serial_executor import Job

# How long after the end of input the last answers may take, in seconds: whoever has gone is not
# to leave an engine behind, and whoever piped some lines in waits for their answer.
DRAIN_TIMEOUT = 10.0
# So much may a stranger have waiting to be done; of each game that it is about there is a copy.
MAX_PENDING = 64
# What results are worth to White.
WHITE_POINTS = {"1-0": 1, "0-1": -1, "1/2-1/2": 0}


class SessionParts(NamedTuple):
    """Who plays in a session, with what has come of moves, and what is known of whom it meets."""

    engine: ChessBackend
    learning: PositionLearner[chess.Board, chess.Move]
    opponent: OpponentModel
    agent: Agent[chess.Board, chess.Move]


class ChessSession(ABC):
    """One session of chess. It is the listener of its player.

    name, author: who it says it is. send: takes a line that is not the reply to a line, from any
    thread. log_to: changes the debug log file; may raise OSError. allowance: what this session may
    do and use.
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
        self._session_parts: SessionParts | None = None
        self._parts_lock = Lock()
        self._send = send
        self._drain_deadline: float | None = None

    @property
    def engine(self) -> ChessBackend:
        """Who searches."""
        return self._get_parts().engine

    @property
    def learning(self) -> PositionLearner[chess.Board, chess.Move]:
        """What has come of moves in other games."""
        return self._get_parts().learning

    @property
    def opponent(self) -> OpponentModel:
        """What is known of whoever is met."""
        return self._get_parts().opponent

    @property
    def agent(self) -> Agent[chess.Board, chess.Move]:
        """Who plays."""
        return self._get_parts().agent

    def _get_parts(self) -> SessionParts:
        with self._parts_lock:
            if self._session_parts is None:
                self._session_parts = self._create_parts()
            return self._session_parts

    def _create_parts(self) -> SessionParts:
        from agent.agent import Agent
        from agent.chess.engine.board_adapter import BoardAdapter
        from agent.chess.engine.learning import ChessLearningAdapter
        from agent.learning.opponent_model import OpponentAwareBackend, OpponentModel
        from agent.learning.position_learner import PositionLearner
        from agent.learning.position_learning_searcher import PositionLearningBackend

        engine, opponent = self._make_engine(self.report), OpponentModel(self.report)
        experience: PositionLearner[chess.Board, chess.Move] = PositionLearner(
            ChessLearningAdapter(), self.report
        )
        self.book.adjust_weights = opponent.adjust_weights
        # Experience is around habits: what they choose is a prediction too, to be learned from.
        habitual = OpponentAwareBackend(engine, opponent)
        agent = Agent(
            PositionLearningBackend(habitual, experience, self._uses_learning, self._seed_search),
            self,
            BoardAdapter(),
            move_providers=(opponent, self.book),
            scheduler=self._session_context.scheduler,
        )
        return SessionParts(engine, experience, opponent, agent)

    def _create_default_engine(self, report: Callable[[str], None]) -> ChessBackend:
        from agent.chess.engine.backend import ChessBackend

        megabytes = min(DEFAULT_MEGABYTES, self.permissions.megabytes)
        return ChessBackend(report, _open_own_tables, megabytes, self._session_context.budget)

    def drain(self, timeout: float | None = None) -> bool:
        """After the last line: give what has been asked for LAST_ANSWERS seconds, then stop it.

        Searches that would not end by themselves are stopped at once, and all after `quit`.
        """
        if self.finished or self._session_parts is None:
            return True
        if self._drain_deadline is None:
            self._drain_deadline = time.monotonic() + DRAIN_TIMEOUT
            self.agent.stop_endless()
        left = self._drain_deadline - time.monotonic()
        if left <= 0.0:
            return True
        return self.agent.wait(left if timeout is None else min(timeout, left))

    def close(self, timeout: float) -> bool:
        """Stop everything; return whether all threads ended within about `timeout` seconds."""
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
        """Whether a stranger has asked for as much as is kept waiting."""
        return not self.permissions.trusted and len(self.agent.pending()) >= MAX_PENDING

    def require_queue_space(self) -> None:
        """Raise UciError where no more is kept waiting."""
        if self.queue_is_full:
            raise UciError("too much waits to be done: this is ignored")

    # What the player, the engine and the book tell.

    @abstractmethod
    def info(self, info: Info[chess.Move]) -> None:
        """Report a line of play."""

    @abstractmethod
    def progress(self, progress: Progress[chess.Move], seconds: float) -> None:
        """Report where a long search stands."""

    @abstractmethod
    def error(self, message: str) -> None:
        """Report that something failed."""

    @abstractmethod
    def report(self, message: str) -> None:
        """Report anything else that the user should know."""

    @abstractmethod
    def result(self, result: Result[chess.Move]) -> None:
        """Take the answer of a search."""

    # The changes that commands and options make, beyond setting one attribute.

    def prepare(self, job: Job) -> None:
        """Open the book and wait for the kernel, as far as a front end should wait for it."""
        self.book.open()
        self.engine.wait_until_loaded(job)

    def new_game(self) -> None:
        """Take the next position for one of another game."""
        self.agent.new_game()
        self.agent.submit(lambda job: self.engine.new_game())
        if self.learning.active:
            self.agent.submit(lambda job: self.learning.new_game())
        self.agent.submit(lambda job: self.opponent.new_game())

    def set_analysing(self, analysing: bool) -> None:
        """Analyse positions rather than play a game, or the other way round."""
        self.agent.use_full_time = analysing
        self.change_book(lambda book: setattr(book, "analysing", analysing))
        self.change_opponent(lambda opponent: setattr(opponent, "analysing", analysing))

    def change_engine(self, change: Callable[[ChessBackend], None]) -> None:
        """Change something in the engine, after whatever it is doing."""
        self.agent.submit(lambda job: change(self.engine))

    def change_book(self, change: Callable[[BookProvider], None]) -> None:
        """Change something in the book, after whatever the player is doing."""
        self.agent.submit(lambda job: change(self.book))

    def change_opponent(self, change: Callable[[OpponentModel], None]) -> None:
        """Change something in what is known of the opponent, after what the player is doing."""
        self.agent.submit(lambda job: change(self.opponent))

    def set_opponent_clock(self, clock: float | None) -> None:
        """Go by the opponent's habits in the next search; clock: what he has left, in seconds."""
        self.opponent.opponent_clock = clock
        self.agent.time_factor = self.opponent.time_factor

    def change_evaluation(self, spec: str) -> None:
        """Use another evaluation, unless it is seen at once that there is none."""
        check(spec)
        self.change_engine(lambda engine: engine.set_evaluation(spec))

    def change_learning_file(self, path: str) -> None:
        """Learn from the outcomes of moves, and keep that in a file; "" to do neither."""

        def change(engine: ChessBackend) -> None:
            self.learning.open_file(path)
            engine.clear()

        self.change_engine(change)

    def learn_result(self, result: str, *, forfeit: bool) -> None:
        """Learn from the end of a game, as PGN writes it; `*`: it was left.

        forfeit: it ended otherwise than by what was played, which tells nothing of the moves.
        """
        points = WHITE_POINTS.get(result)

        def conclude(job: Job) -> None:
            self.opponent.record_result(result, forfeit=forfeit)
            if points is not None and not forfeit:
                self.learning.record_result(lambda board: points if board.turn else -points)
            self.learning.flush()

        self.agent.submit(conclude)

    def _uses_learning(self, searcher: object) -> bool:
        """Tell whether a search is to heed experience: to play a game as well as can be."""
        from agent.chess.engine.limited_strength import LimitedStrengthSearch

        beside = self.agent.use_full_time or self.opponent.off_the_record
        return not (beside or isinstance(_unwrap_searcher(searcher), LimitedStrengthSearch))

    def _seed_search(self, searcher: object) -> None:
        """Let the compiled alpha-beta meet the lessons in its tree."""
        learn = getattr(_unwrap_searcher(searcher), "set_learned_moves", None)
        if learn is not None:
            learn(self.learning.by_resulting_position, self.learning.resulting_positions)

    def change_log(self, path: str) -> None:
        """Log to another file."""
        try:
            self.log_to(path)
        except OSError as error:
            raise UciError(f"cannot log to {shorten(path)}: {error.strerror}") from None


def _unwrap_searcher(searcher: object) -> object:
    from agent.learning.opponent_search import OpponentAwareSearch

    return searcher.searcher if isinstance(searcher, OpponentAwareSearch) else searcher


def _open_own_tables(report: Callable[[str], None]) -> BuiltinTablebase:
    from openings.endgame_tables import open_builtin_tablebase  # imports the kernel

    return open_builtin_tablebase(report)


def attribute_setter(name: str) -> Callable[[ChessSession, Any], None]:
    """Return the change of an option that sets an attribute."""
    return lambda play, value: setattr(play, name, value)


def _set_overhead(play: ChessSession, milliseconds: int) -> None:
    play.agent.overhead = milliseconds / 1e3


def _book_setter(name: str) -> Callable[[ChessSession, Any], None]:
    return lambda play, value: play.change_book(lambda book: setattr(book, name, value))


COMMON_OPTIONS: tuple[Option[ChessSession], ...] = (
    Option(
        "Hash",
        "spin",
        lambda play, value: play.change_engine(lambda engine: engine.set_megabytes(value)),
        default=DEFAULT_MEGABYTES,
        min=1,
        max=65536,
        limited_by="megabytes",
    ),
    Option(
        "Clear Hash", "button", lambda play, _: play.change_engine(lambda engine: engine.clear())
    ),
    Option(
        "Threads",
        "spin",
        lambda play, value: play.change_engine(lambda engine: engine.set_threads(value)),
        default=1,
        min=1,
        max=256,
        limited_by="threads",
    ),
    Option("MultiPV", "spin", attribute_setter("lines"), default=1, min=1, max=256),
    Option("Move Overhead", "spin", _set_overhead, default=10, min=0, max=5000),
    Option("OwnBook", "check", _book_setter("enabled"), default=True),
    Option(
        "BookFile",
        "string",
        lambda play, value: play.change_book(lambda book: book.set_books(value)),
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
        lambda play, value: play.change_engine(lambda engine: engine.set_level(limit=value)),
        default=False,
    ),
    Option(
        "UCI_Elo",
        "spin",
        lambda play, value: play.change_engine(lambda engine: engine.set_level(elo=value)),
        default=MIN_ELO,
        min=MIN_ELO,
        max=MAX_ELO,
    ),
    Option(
        "Skill Level",
        "spin",
        lambda play, value: play.change_engine(lambda engine: engine.set_level(skill=value)),
        default=int(MAX_SKILL),
        min=0,
        max=int(MAX_SKILL),
    ),
    Option(
        "BuiltinTablebase",
        "check",
        lambda play, value: play.change_engine(lambda engine: engine.use_builtin_tablebase(value)),
        default=True,
    ),
    Option(
        "SyzygyPath",
        "string",
        lambda play, value: play.change_engine(lambda engine: engine.use_syzygy(value)),
        requires_trust=True,
    ),
    Option(
        "GaviotaPath",
        "string",
        lambda play, value: play.change_engine(lambda engine: engine.use_gaviota(value)),
        requires_trust=True,
    ),
    Option(
        "Evaluation",
        "string",
        lambda play, value: play.change_evaluation(value or DEFAULT),
        default=DEFAULT,
        requires_trust=True,
        safe_values=(NETWORK, HANDCRAFTED.name),
    ),
    Option(
        "Search",
        "combo",
        lambda play, value: play.change_engine(lambda engine: engine.set_search(value)),
        default=SEARCHES[0],
        choices=SEARCHES,
    ),
    Option(
        "Final Choice",
        "combo",
        lambda play, value: play.change_engine(lambda engine: engine.set_final_choice(value)),
        default=FINAL_CHOICES[0],
        choices=FINAL_CHOICES,
    ),
    Option("ExperienceFile", "string", ChessSession.change_learning_file, requires_trust=True),
    Option(
        "HabitsFile",
        "string",
        lambda play, value: play.change_opponent(lambda opponent: opponent.set_file(value)),
        requires_trust=True,
    ),
    Option("Debug Log File", "string", ChessSession.change_log, requires_trust=True),
)
