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

from agent.chess.evaluations import DEFAULT
from agent.chess.levels import FULL, LEAST_ELO, MOST_ELO
from agent.chess.settings import FINAL_CHOICES, SEARCHES, USUAL_MEGABYTES
from agent.evaluation import HANDCRAFTED, NETWORK, check
from openings.advisor import MOST_MOVES, SHIPPED, VARIETIES, WEIGHTED, BookAdvisor
from protocols.allowance import ALONE, Allowance
from protocols.uci.options import Option
from protocols.uci.values import UciError, shorten

if TYPE_CHECKING:
    import chess

    from agent.chess.engine import Engine
    from agent.chess.own_tables import OwnTables
    from agent.experience.memory import Experience
    from agent.limits import Info, Progress, Result
    from agent.player import Player
    from agent.threads.task_thread import Job
    from opponents.memory import OpponentMemory

# How long after the end of input the last answers may take, in seconds: whoever has gone is not
# to leave an engine behind, and whoever piped some lines in waits for their answer.
LAST_ANSWERS = 10.0
# So much may a stranger have waiting to be done; of each game that it is about there is a copy.
MOST_WAITING = 64
# What results are worth to White.
POINTS = {"1-0": 1, "0-1": -1, "1/2-1/2": 0}


class Parts(NamedTuple):
    """Who plays in a session, with what has come of moves, and what is known of whom it meets."""

    engine: Engine
    experience: Experience[chess.Board, chess.Move]
    opponent: OpponentMemory
    player: Player[chess.Board, chess.Move]


class ChessPlay(ABC):
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
        make_engine: Callable[[Callable[[str], None]], Engine] | None = None,
        allowance: Allowance = ALONE,
    ) -> None:
        self.finished = False
        self.permissions = allowance.permissions
        self.name = name
        self.author = author
        self.log_to = log_to
        self.lines = 1
        self.book = BookAdvisor(self.note)
        self._allowance = allowance
        self._make_engine = make_engine or self._usual_engine
        self._parts: Parts | None = None
        self._making = Lock()
        self._send = send
        self._ends: float | None = None

    @property
    def engine(self) -> Engine:
        """Who searches."""
        return self._made().engine

    @property
    def experience(self) -> Experience[chess.Board, chess.Move]:
        """What has come of moves in other games."""
        return self._made().experience

    @property
    def opponent(self) -> OpponentMemory:
        """What is known of whoever is met."""
        return self._made().opponent

    @property
    def player(self) -> Player[chess.Board, chess.Move]:
        """Who plays."""
        return self._made().player

    def _made(self) -> Parts:
        with self._making:
            if self._parts is None:
                self._parts = self._make()
            return self._parts

    def _make(self) -> Parts:
        from agent.chess.experience import ChessNotation
        from agent.chess.reader import BoardReader
        from agent.experience.memory import Experience
        from agent.experience.searcher import ExperiencedSource
        from agent.player import Player
        from opponents.memory import HabitSource, OpponentMemory

        engine, opponent = self._make_engine(self.note), OpponentMemory(self.note)
        experience: Experience[chess.Board, chess.Move] = Experience(ChessNotation(), self.note)
        self.book.prefer = opponent.prefer
        # Experience is around habits: what they choose is a prediction too, to be learned from.
        habitual = HabitSource(engine, opponent)
        player = Player(
            ExperiencedSource(habitual, experience, self._heeds, self._teach),
            self,
            BoardReader(),
            advisors=(opponent, self.book),
            turns=self._allowance.turns,
        )
        return Parts(engine, experience, opponent, player)

    def _usual_engine(self, report: Callable[[str], None]) -> Engine:
        from agent.chess.engine import Engine

        megabytes = min(USUAL_MEGABYTES, self.permissions.megabytes)
        return Engine(report, _open_own_tables, megabytes, self._allowance.budget)

    def drain(self, timeout: float | None = None) -> bool:
        """After the last line: give what has been asked for LAST_ANSWERS seconds, then stop it.

        Searches that would not end by themselves are stopped at once, and all after `quit`.
        """
        if self.finished or self._parts is None:
            return True
        if self._ends is None:
            self._ends = time.monotonic() + LAST_ANSWERS
            self.player.stop_endless()
        left = self._ends - time.monotonic()
        if left <= 0.0:
            return True
        return self.player.wait(left if timeout is None else min(timeout, left))

    def close(self, timeout: float) -> bool:
        """Stop everything; return whether all threads ended within about `timeout` seconds."""
        if self._parts is None:
            return True
        deadline = time.monotonic() + timeout
        ended = self.player.close(timeout)
        if ended:
            self.experience.close()
            self.opponent.finish()
        return self.engine.close(max(deadline - time.monotonic(), 0.0)) and ended

    @property
    def crowded(self) -> bool:
        """Whether a stranger has asked for as much as is kept waiting."""
        return not self.permissions.trusted and len(self.player.asked()) >= MOST_WAITING

    def require_room(self) -> None:
        """Raise UciError where no more is kept waiting."""
        if self.crowded:
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
    def note(self, message: str) -> None:
        """Report anything else that the user should know."""

    @abstractmethod
    def result(self, result: Result[chess.Move]) -> None:
        """Take the answer of a search."""

    # The changes that commands and options make, beyond setting one attribute.

    def prepare(self, job: Job) -> None:
        """Open the book and wait for the kernel, as far as a front end should wait for it."""
        self.book.open()
        self.engine.settle(job)

    def forget(self) -> None:
        """Take the next position for one of another game."""
        self.player.new_game()
        self.player.do(lambda job: self.engine.new_game())
        if self.experience.active:
            self.player.do(lambda job: self.experience.new_game())
        self.player.do(lambda job: self.opponent.new_game())

    def set_analysing(self, analysing: bool) -> None:
        """Analyse positions rather than play a game, or the other way round."""
        self.player.patient = analysing
        self.change_book(lambda book: setattr(book, "analysing", analysing))
        self.change_opponent(lambda opponent: setattr(opponent, "analysing", analysing))

    def change_engine(self, change: Callable[[Engine], None]) -> None:
        """Change something in the engine, after whatever it is doing."""
        self.player.do(lambda job: change(self.engine))

    def change_book(self, change: Callable[[BookAdvisor], None]) -> None:
        """Change something in the book, after whatever the player is doing."""
        self.player.do(lambda job: change(self.book))

    def change_opponent(self, change: Callable[[OpponentMemory], None]) -> None:
        """Change something in what is known of the opponent, after what the player is doing."""
        self.player.do(lambda job: change(self.opponent))

    def face(self, clock: float | None) -> None:
        """Go by the opponent's habits in the next search; clock: what he has left, in seconds."""
        self.opponent.clock = clock
        self.player.thrift = self.opponent.thrift

    def change_evaluation(self, spec: str) -> None:
        """Use another evaluation, unless it is seen at once that there is none."""
        check(spec)
        self.change_engine(lambda engine: engine.set_evaluation(spec))

    def change_experience(self, path: str) -> None:
        """Learn from the outcomes of moves, and keep that in a file; "" to do neither."""

        def change(engine: Engine) -> None:
            self.experience.use(path)
            engine.clear()

        self.change_engine(change)

    def learn_result(self, result: str, *, forfeit: bool) -> None:
        """Learn from the end of a game, as PGN writes it; `*`: it was left.

        forfeit: it ended otherwise than by what was played, which tells nothing of the moves.
        """
        points = POINTS.get(result)

        def conclude(job: Job) -> None:
            self.opponent.told(result, forfeit=forfeit)
            if points is not None and not forfeit:
                self.experience.conclude(lambda board: points if board.turn else -points)
            self.experience.flush()

        self.player.do(conclude)

    def _heeds(self, searcher: object) -> bool:
        """Tell whether a search is to heed experience: to play a game as well as can be."""
        from agent.chess.weak_search import WeakSearch

        beside = self.player.patient or self.opponent.aside
        return not (beside or isinstance(_inmost(searcher), WeakSearch))

    def _teach(self, searcher: object) -> None:
        """Let the compiled alpha-beta meet the lessons in its tree."""
        learn = getattr(_inmost(searcher), "learn_from", None)
        if learn is not None:
            learn(self.experience.by_position_after, self.experience.order)

    def change_log(self, path: str) -> None:
        """Log to another file."""
        try:
            self.log_to(path)
        except OSError as error:
            raise UciError(f"cannot log to {shorten(path)}: {error.strerror}") from None


def _inmost(searcher: object) -> object:
    from opponents.habit_search import HabitSearch

    return searcher.searcher if isinstance(searcher, HabitSearch) else searcher


def _open_own_tables(report: Callable[[str], None]) -> OwnTables:
    from openings.tables import open_own_tables  # imports the kernel

    return open_own_tables(report)


def setter(name: str) -> Callable[[ChessPlay, Any], None]:
    """Return the change of an option that sets an attribute."""
    return lambda play, value: setattr(play, name, value)


def _set_overhead(play: ChessPlay, milliseconds: int) -> None:
    play.player.overhead = milliseconds / 1e3


def _book_setter(name: str) -> Callable[[ChessPlay, Any], None]:
    return lambda play, value: play.change_book(lambda book: setattr(book, name, value))


SHARED: tuple[Option[ChessPlay], ...] = (
    Option(
        "Hash",
        "spin",
        lambda play, value: play.change_engine(lambda engine: engine.set_megabytes(value)),
        default=USUAL_MEGABYTES,
        least=1,
        most=65536,
        share="megabytes",
    ),
    Option(
        "Clear Hash", "button", lambda play, _: play.change_engine(lambda engine: engine.clear())
    ),
    Option(
        "Threads",
        "spin",
        lambda play, value: play.change_engine(lambda engine: engine.set_threads(value)),
        default=1,
        least=1,
        most=256,
        share="threads",
    ),
    Option("MultiPV", "spin", setter("lines"), default=1, least=1, most=256),
    Option("Move Overhead", "spin", _set_overhead, default=10, least=0, most=5000),
    Option("OwnBook", "check", _book_setter("enabled"), default=True),
    Option(
        "BookFile",
        "string",
        lambda play, value: play.change_book(lambda book: book.use(value)),
        default=SHIPPED,
        trusted=True,
        own=(SHIPPED,),
    ),
    Option(
        "BookDepth",
        "spin",
        _book_setter("depth"),
        default=MOST_MOVES,
        least=0,
        most=MOST_MOVES,
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
        default=LEAST_ELO,
        least=LEAST_ELO,
        most=MOST_ELO,
    ),
    Option(
        "Skill Level",
        "spin",
        lambda play, value: play.change_engine(lambda engine: engine.set_level(skill=value)),
        default=int(FULL),
        least=0,
        most=int(FULL),
    ),
    Option(
        "OwnTables",
        "check",
        lambda play, value: play.change_engine(lambda engine: engine.use_own_tables(value)),
        default=True,
    ),
    Option(
        "SyzygyPath",
        "string",
        lambda play, value: play.change_engine(lambda engine: engine.use_syzygy(value)),
        trusted=True,
    ),
    Option(
        "GaviotaPath",
        "string",
        lambda play, value: play.change_engine(lambda engine: engine.use_gaviota(value)),
        trusted=True,
    ),
    Option(
        "Evaluation",
        "string",
        lambda play, value: play.change_evaluation(value or DEFAULT),
        default=DEFAULT,
        trusted=True,
        own=(NETWORK, HANDCRAFTED.name),
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
    Option("ExperienceFile", "string", ChessPlay.change_experience, trusted=True),
    Option(
        "HabitsFile",
        "string",
        lambda play, value: play.change_opponent(lambda opponent: opponent.use(value)),
        trusted=True,
    ),
    Option("Debug Log File", "string", ChessPlay.change_log, trusted=True),
)
