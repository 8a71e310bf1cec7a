"""What the commands of GTP act on: a board, clocks, and a player in between."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any

from agent.agent import DEFAULT_REPORT_INTERVAL, Agent, ReportInterval, describe
from agent.backends import (
    create_backend,
    dead_stone_judge,
    quick_dead_stone_judge,
    wait_until_loaded,
)
from agent.evaluation import HANDCRAFTED
from agent.game import CHANCE, ChanceGame, Game
from agent.games import catalogue
from agent.games.chain_status import Statuses
from agent.games.chance import draw_event
from agent.games.go import Go
from agent.games.position_adapter import GamePositionAdapter
from agent.games.stones import PASS
from agent.kernel.backend import DEFAULT_SEARCH_CONFIG, CompiledBackend, SearchConfig
from agent.learning.game_learning_adapter import SURPRISE_THRESHOLD, game_label
from agent.learning.opponent_game_model import GameOpponentModel
from agent.learning.position_learning_searcher import PositionLearningBackend
from agent.limits import Info, Limits, Overtime, Result, SideClock
from agent.search import algorithm_spec
from agent.search.backend import GameBackend
from agent.search.learned_positions import LearnedPositions
from agent.search.searcher import GameSearcher
from agent.threads.scheduler import NoDeadline
from agent.threads.serial_executor import Job
from openings.game_book import ProviderChain, move_providers
from protocols.gtp.analysis import ALL_MOVES, AnalysisReporter
from protocols.gtp.board import GtpBoard
from protocols.gtp.clock import UNLIMITED, GtpClock, TimeSystem
from protocols.gtp.go_board import GtpGoBoard
from protocols.gtp.messages import COLOURS, GtpError, ParsedCommand
from protocols.gtp.resignation import DEFAULT_RESIGN_POLICY, ResignationTracker, ResignPolicy
from protocols.gtp.rules import DEFAULT_RULES, GoRules
from protocols.session_context import STANDALONE, SessionContext

if TYPE_CHECKING:
    from agent.agent import MoveProvider, SearchBackend

RESIGN = "resign"
SESSION_ENDED = "the session ends before a move is found"
NO_RESTRICTIONS: Limits[Any] = Limits()
# Of what a search remembers, where other sessions have all the rest.
MIN_MEGABYTES = 1
# What is kept free of each move, in seconds: the way to the front end, and the end of a playout.
OVERHEAD = 0.05
# Where territory is scored, whether a move may be left out is asked in so many playouts; for
# these, and for those that tell the dead stones, each has this share of a move's time. Of the main
# time a move is taken to have one part.
PROBE_PLAYOUTS, PROBE_SHARE, MAIN_TIME_DIVISOR = 5000, 0.1, 40
MIN_PROBE_PLAYOUTS, MAX_PASS_COST = 100, 0.2
_JUDGING_PLAYOUTS = (
    2000  # the playouts of agent.go.dead_stones, which is imported with the kernels only
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What is to be played, and how.

    game: as agent.games.catalogue finds it; options: of its class. algorithm: as
    agent.search.algorithm_spec reads it; what suits the game without it. evaluation: whose it is, as
    in agent.evaluation. experience: the file of what play has taught, if any. book: ask books and
    solved values before searching. seconds: for a move while no clock runs. depth, nodes: the most
    for a move, if given. means: what the search may use. resigns: lost games of Go are given up, by
    the rate. ponders: think on after a move. rules: of Go, until others are set. max_pv_length: the
    most moves of a line that an analysis shows. habits: the file in which opponents are remembered,
    "" for none; not of Go.
    """

    game: str = "go"
    options: Mapping[str, Any] = field(default_factory=dict)
    algorithm: str | None = None
    evaluation: str = HANDCRAFTED.name
    experience: str = ""
    book: bool = True
    seconds: float = 5.0
    depth: int | None = None
    nodes: int | None = None
    search_config: SearchConfig = DEFAULT_SEARCH_CONFIG
    resigns: bool = True
    resign_policy: ResignPolicy = DEFAULT_RESIGN_POLICY
    ponders: bool = False
    rules: GoRules = DEFAULT_RULES
    max_pv_length: int = 15
    habits: str = ""


DEFAULT_SETTINGS = Settings()


class GtpSession(ABC):
    """What the commands of a GTP engine act on: the board, the clocks, and who thinks.

    name, version: who it says it is. send: takes a piece of an answer, to which one line end is
    added, from the worker's thread. report: takes what a person should know. allowance: what this
    session may do and use.

    Raises ValueError or EvaluationError for settings that cannot be.
    """

    def __init__(
        self,
        name: str,
        version: str,
        send: Callable[[str], None],
        report: Callable[[str], None],
        settings: Settings = DEFAULT_SETTINGS,
        session_context: SessionContext = STANDALONE,
    ) -> None:
        search_config, permissions = settings.search_config, session_context.permissions
        granted = replace(
            search_config,
            megabytes=min(search_config.megabytes, permissions.megabytes),
            threads=min(search_config.threads, permissions.threads),
            at_once=search_config.at_once and session_context.budget is None,
        )
        settings = replace(settings, search_config=granted)
        self.permissions = permissions
        self._scheduler = session_context.scheduler
        self._budget = session_context.budget
        self._reserved_megabytes = 0  # of the budget
        self.name = name
        self.version = version
        self.send = send
        self.report = report
        self.settings = settings
        kind = catalogue.find(settings.game)
        self.board = (
            GtpGoBoard(kind, settings.options, self._judge, settings.rules)
            if issubclass(kind.game_class, Go)
            else GtpBoard(kind, settings.options)
        )
        if settings.rules != DEFAULT_RULES and not issubclass(kind.game_class, Go):
            raise ValueError("--rules: only Go has rules to choose among")
        if settings.habits and issubclass(kind.game_class, Go):
            raise ValueError("--habits: opponents are remembered in games other than Go")
        board = self.board
        self.opponent = GameOpponentModel(
            settings.habits, kind.name, lambda: board.move_texts, lambda: board.options_text, report
        )
        self._random = Random(settings.search_config.seed)
        self._advisor: ProviderChain[Any] = ProviderChain(self._create_advisors)
        self._backend = self._create_backend(settings)
        self._learned_moves = self._create_learned_moves()
        self._agent: Agent[Game[Any], Any] = Agent(
            self._with_learning(self._backend),
            AnalysisReporter(report),
            GamePositionAdapter(),
            OVERHEAD,
            move_providers=(self.opponent, self._advisor),
            scheduler=session_context.scheduler,
        )
        self._time_system = UNLIMITED
        self._clocks = [GtpClock(UNLIMITED), GtpClock(UNLIMITED)]
        self.resignation = ResignationTracker()
        self.closing = False  # a search that is stopped now was stopped by the end
        # What the last search of many lines found, and about which position.
        self._last_lines: tuple[object, Sequence[Info[Any]]] = (None, ())
        self._has_moved = False
        self.current_command = ParsedCommand("", "", ())
        self._job: Job | None = None

    @property
    def go_board(self) -> GtpGoBoard:
        """The board of a game of Go."""
        assert isinstance(self.board, GtpGoBoard)
        return self.board

    @abstractmethod
    def known_commands(self) -> list[str]:
        """Return the names of the commands that the game has."""

    # What a session is told.

    def change_settings(self, settings: Settings) -> None:
        """Go on with other settings, but of the same game.

        Raises ValueError or EvaluationError, changing nothing, for settings that cannot be. A
        search that has to be made anew forgets what it knew. Raises MemoryError if all sessions
        together have no room for it.
        """
        wanted = settings.search_config.megabytes
        if self._budget is not None and wanted != self.settings.search_config.megabytes:
            self._budget.resize(self._reserved_megabytes, wanted)
            self._reserved_megabytes = wanted
        if settings.search_config != self.settings.search_config:
            self._replace_backend(settings)
        self.settings = settings
        self._last_lines = (None, ())

    def _reserve_memory(self) -> None:
        """Take the part of the budget, or what there is of it, unless that was done."""
        if self._budget is None or self._reserved_megabytes:
            return
        search_config = self.settings.search_config
        self._reserved_megabytes = self._budget.reserve(search_config.megabytes, MIN_MEGABYTES)
        if self._reserved_megabytes < search_config.megabytes:
            settings = replace(
                self.settings,
                search_config=replace(search_config, megabytes=self._reserved_megabytes),
            )
            self._replace_backend(settings)
            self.settings = settings

    def save_learning(self) -> None:
        """Write what was learned for good, when all is over."""
        if self._learned_moves is not None:
            self._learned_moves.experience.close()

    def release_memory(self) -> None:
        """Give the part of the budget back; the searches must have ended."""
        if self._budget is not None:
            self._budget.release(self._reserved_megabytes)
            self._reserved_megabytes = 0

    def new_game(self) -> None:
        """Forget what was learned of the last game but for good, and start the clocks again.

        Before that, it waits for what has only to be loaded: see `settle`.
        """
        self._backend.new_game()
        self._start_learning_game()
        self._advisor.new_game()
        self.opponent.new_game()
        self._agent.new_game()
        self.wait_until_loaded()
        self.start_clocks(self._time_system)
        self.on_position_changed()

    def wait_until_loaded(self) -> None:
        """Wait for what has only to be loaded, which no move could wait for where a clock runs."""
        wait_until_loaded(self._backend)

    def clear_cache(self) -> None:
        """Let the next search begin with nothing; what was learned for good stays."""
        self._backend.new_game()
        self._last_lines = (None, ())

    def on_position_changed(self) -> None:
        """Take the position for one that does not follow from the last."""
        self.resignation.clear()
        self._last_lines = (None, ())

    def start_clocks(self, system: TimeSystem) -> None:
        """Let both sides' clocks begin anew."""
        self._time_system = system
        self._clocks = [GtpClock(system, self._agent.lag_estimator) for _ in COLOURS]

    def set_remaining_time(self, player: int, seconds: float, count: int) -> None:
        """Believe what a player's clock is said to show."""
        self._clocks[player].set_remaining(seconds, count)

    # Thinking.

    def generate_move(
        self,
        player: int,
        listener: AnalysisReporter | None = None,
        report_interval: ReportInterval = DEFAULT_REPORT_INTERVAL,
        move_restrictions: Limits[Any] = NO_RESTRICTIONS,
        *,
        never_resign: bool = False,
    ) -> str:
        """Find a move, make it, take its time off the clock, and return it.

        A lost game of Go may be given up instead, unless it is played to the end. within: only
        these `search_moves` and `restrictions`, and tell the `moves_ownership`; nothing else of it.
        """
        self.board.require_game_length()
        if self.closing:
            raise GtpError(SESSION_ENDED)
        began = time.monotonic()
        result = self.search_move(
            player, listener or AnalysisReporter(self.report), report_interval, move_restrictions
        )
        if self.closing and result.info is None:
            raise GtpError(SESSION_ENDED)
        self._clocks[player].spend(time.monotonic() - began, result.planned_time)
        if not never_resign and self._should_resign(player, result):
            return RESIGN
        text = self.board.game.text(result.move)
        self.board.play_move(player, result.move)
        self._has_moved = True
        return text

    def _should_resign(self, player: int, result: Result[Any]) -> bool:
        board, settings = self.board, self.settings
        if not isinstance(board, GtpGoBoard) or not settings.resigns:
            return False
        lost = self.resignation.should_resign(player, result.info, settings.resign_policy)
        return lost and not board.is_early and result.move != PASS

    def search_move(
        self,
        player: int,
        listener: AnalysisReporter,
        report_interval: ReportInterval = DEFAULT_REPORT_INTERVAL,
        move_restrictions: Limits[Any] = NO_RESTRICTIONS,
    ) -> Result[Any]:
        """Return a move for a player, on the clock; chance draws its events."""
        with self.board.player_to_move(player):
            game = self.board.game
            if isinstance(game, ChanceGame) and game.turn == CHANCE:
                return Result(draw_event(game, self._random.random()))
            limits = _with_restrictions(self._limits(player), move_restrictions)
            result = self._search(limits, listener, report_interval)
        return self._avoid_costly_move(player, result, limits)

    def _avoid_costly_move(
        self, player: int, result: Result[Any], limits: Limits[Any]
    ) -> Result[Any]:
        """Return the answer, or a pass where the move would only cost a point of territory.

        The search counts area, to which stones in a territory are worth nothing and cost nothing.
        """
        board, info, among = self.board, result.info, limits.search_moves
        if (
            not isinstance(board, GtpGoBoard)
            or not board.rules.territory
            or board.game.capture_dead_stones
        ):
            return result
        move = result.move
        if move is None or move == PASS or (among and PASS not in among) or info is None:
            return result
        if info.expected_outcome is None or info.ownership is None:
            return result
        if not board.is_wasted_move(player, move, info.ownership):
            return result
        seconds = PROBE_SHARE * _move_time(limits)
        found = self._probe(1 - player, seconds)
        result = replace(result, planned_time=None)  # that was longer
        if found is None or found.expected_outcome is None or found.ownership is None:
            return result
        if (
            found.nodes < MIN_PROBE_PLAYOUTS
            or info.expected_outcome + found.expected_outcome > MAX_PASS_COST
        ):
            return result
        before = board.territory_lead(player, player, info.ownership)
        after = board.territory_lead(player, 1 - player, found.ownership)
        # All threads have searched, one judges.
        judging = _JUDGING_PLAYOUTS * self.settings.search_config.threads * found.time
        if after < before or judging > seconds * found.nodes:
            return result
        # Both may pass now: what is said of the end then must be what the search expects. Playouts
        # alone are asked, whose time is known.
        statuses = quick_dead_stone_judge(self._backend, board.game)(board.game)
        end = -board.result(statuses) if player else board.result(statuses)
        return replace(result, move=PASS) if end == before else result

    def _probe(self, player: int, seconds: float) -> Info[Any] | None:
        """Return what a short search finds if it is a player's turn."""
        with self.board.player_to_move(player):
            limits: Limits[Any] = Limits(nodes=PROBE_PLAYOUTS, movetime=seconds + OVERHEAD)
            return self._search(limits, AnalysisReporter(self.report), DEFAULT_REPORT_INTERVAL).info

    def analyze(
        self,
        player: int,
        listener: AnalysisReporter,
        report_interval: ReportInterval,
        move_restrictions: Limits[Any] = NO_RESTRICTIONS,
    ) -> None:
        """Think about a player's move until there is any input."""
        assert self._job is not None
        self._job.superseded.add_callback(self._job.stop.set)
        with self.board.player_to_move(player):
            self._search(
                _with_restrictions(Limits(infinite=True), move_restrictions),
                listener,
                report_interval,
            )

    def analysis_lines(self, player: int) -> Sequence[Info[Any]]:
        """Return what a search finds of a player's moves: the last one, or one as for a move."""
        with self.board.player_to_move(player):
            key = self.board.game.key()
        if self._last_lines[0] != key or not self._last_lines[1]:
            self.search_move(player, AnalysisReporter(self.report, max_lines=ALL_MOVES))
        return self._last_lines[1]

    def _search(
        self, limits: Limits[Any], listener: AnalysisReporter, report_interval: ReportInterval
    ) -> Result[Any]:
        assert self._job is not None
        self._reserve_memory()
        lines = self._backend.max_lines or listener.max_lines
        result = self._agent.think(
            self._job, self.board.game, limits, lines, listener, report_interval
        )
        if listener.max_lines > 1 and not (limits.search_moves or limits.restrictions):
            self._last_lines = (self.board.game.key(), listener.lines)
        return result

    def _ponder(self) -> None:
        """Think on the other's time, until there is any input; the search keeps what it finds."""
        game = self.board.game
        if game.outcome() is not None or game.turn == CHANCE:
            return
        try:
            self.analyze(game.turn, AnalysisReporter(self.report), DEFAULT_REPORT_INTERVAL)
        except Exception as error:  # noqa: BLE001 - the command has been answered
            self.report(describe(error))

    def _limits(self, player: int) -> Limits[Any]:
        """Return what ends the search of a player's next move."""
        settings, moves_left = self.settings, None
        system = self._clocks[player].system
        if system.unlimited:
            clock = SideClock(0.0, overtime=Overtime(settings.seconds + OVERHEAD))
        else:
            clock, moves_left = self._clocks[player].clock(), self.board.moves_left
        board, most = self.board, system.max_move_time
        if isinstance(board, GtpGoBoard) and board.rules.territory:
            left = 1 - 2 * PROBE_SHARE
            if clock.overtime:
                period = left * clock.overtime.seconds
                clock = replace(clock, overtime=replace(clock.overtime, seconds=period))
            most = None if most is None else left * most
        return Limits(
            depth=settings.depth,
            nodes=settings.nodes,
            movetime=most,
            clock=clock,
            moves_to_go=moves_left,
        )

    def _replace_backend(self, settings: Settings) -> None:
        """Have another search made; raises as `create_backend` does, and keeps the old one then."""
        source = self._create_backend(settings)
        self._backend.save()
        self._backend.close(0.0)
        self._backend = source
        self._agent.source = self._with_learning(source)
        source.start()

    def _create_backend(self, settings: Settings) -> GameBackend[Any] | CompiledBackend[Any]:
        return create_backend(
            self.board.game_type,
            lambda: self.board.game,
            self.report,
            algorithm=settings.algorithm,
            evaluation=settings.evaluation,
            search_config=settings.search_config,
        )

    # Experience: what play has taught, in games without chance.

    def learn(self) -> None:
        """Learn from the result if the game is over, and write what was learned."""
        if self._learned_moves is None:
            return
        outcome = self.board.game.outcome()
        if outcome is not None:
            first = max(-1.0, min(1.0, outcome))
            self._learned_moves.experience.record_result(
                lambda game: -first if game.turn else first
            )
        self._learned_moves.experience.flush()

    def _create_learned_moves(self) -> LearnedPositions[Any] | None:
        """Return the memory that is asked for; raises ValueError if there can be none."""
        algorithm = self.settings.algorithm
        options = algorithm_spec.parse(algorithm).options if algorithm else {}
        file = self.settings.experience or options.get("killer_memory")
        if not file:
            return None
        surprise = options.get("surprise", SURPRISE_THRESHOLD)
        return LearnedPositions.from_file(file, self.board.game, surprise, self.report)

    def _with_learning(
        self, source: GameBackend[Any] | CompiledBackend[Any]
    ) -> SearchBackend[Game[Any], Any]:
        """Return a source whose searches heed experience, if there is any."""
        if self._learned_moves is None:
            return source
        return PositionLearningBackend(
            source, self._learned_moves.experience, prepare=self._seed_search
        )

    def _seed_search(self, searcher: object) -> None:
        """Let a plain search meet the lessons in its tree."""
        if isinstance(searcher, GameSearcher):
            searcher.killer_memory = self._learned_moves

    def _start_learning_game(self) -> None:
        """Begin another game, which may be of another size."""
        if self._learned_moves is None:
            return
        if self._learned_moves.experience.notation.game == game_label(self.board.game):
            self._learned_moves.experience.new_game()
        else:
            self._learned_moves.experience.close()
            self._learned_moves = self._create_learned_moves()
            self._agent.source = self._with_learning(self._backend)

    def _judge(self, game: Go) -> Statuses:
        """Tell which stones are dead, in turns with other sessions, at once where it is to end."""
        assert self._job is not None
        stop = self._job.stop
        if self._scheduler is None:
            return dead_stone_judge(self._backend, game, lambda: not stop.is_set())(game)
        turn = self._scheduler.register(NoDeadline())
        stop.add_callback(turn.stop)
        try:
            turn.acquire()
            return dead_stone_judge(self._backend, game, turn.acquire)(game)
        finally:
            turn.release()

    def _create_advisors(self) -> Sequence[MoveProvider[Game[Any], Any]]:
        """Return who gives moves from a book or solved values, if that is wanted."""
        board = self.board
        asked = self.settings.book
        return move_providers(board.game_type, board.create_game(), self._random) if asked else ()


def _with_restrictions(limits: Limits[Any], other: Limits[Any]) -> Limits[Any]:
    """Return limits with the moves that others leave, and what these want to be told."""
    return replace(
        limits,
        search_moves=other.search_moves,
        restrictions=other.restrictions,
        moves_ownership=other.moves_ownership,
    )


def _move_time(limits: Limits[Any]) -> float:
    """Return about how many seconds a move may take."""
    clock = limits.clock
    if clock is None:
        return 0.0
    if clock.time <= 0 and clock.overtime is not None:
        return clock.overtime.seconds / clock.overtime.moves
    seconds = clock.time / MAIN_TIME_DIVISOR + clock.increment
    return seconds if limits.movetime is None else min(seconds, limits.movetime)
