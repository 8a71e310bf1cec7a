"""The board, the clocks and the agent of a GTP session."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any

from agent.agent import DEFAULT_REPORT_INTERVAL, Agent, ReportInterval, SearchRun, describe
from agent.backends import (
    create_backend,
    dead_stone_judge,
    region_search,
    stone_fate_search,
    wait_until_loaded,
)
from agent.evaluation import HANDCRAFTED
from agent.game import CHANCE, ChanceGame, Game
from agent.game_clock import TimeSystem
from agent.games import catalogue
from agent.games.chain_status import ShouldContinue, Statuses, ownership
from agent.games.chance import draw_event
from agent.games.go import Go
from agent.games.go_rules import DEFAULT_RULES, Ruleset
from agent.games.position_adapter import GamePositionAdapter
from agent.games.stones import PASS
from agent.kernel.backend import DEFAULT_SEARCH_CONFIG, CompiledBackend, SearchConfig
from agent.learning.opponent_model import GameOpponentModel
from agent.limits import Info, Limits, Overtime, Result, SideClock
from agent.search.backend import GameBackend
from agent.search.limited_strength import GAME_LEVELS, LimitedGameSearch
from agent.search.stone_fate import Fate, FateSearch
from agent.threads.one_shot_event import wait_for_any
from agent.threads.scheduler import NoDeadline
from agent.threads.serial_executor import Job
from openings.game_book import ProviderChain, move_providers
from protocols.current_line import others_may_run
from protocols.gtp.analysis import ALL_MOVES, AnalysisReporter
from protocols.gtp.board import GtpBoard
from protocols.gtp.clock import UNLIMITED, GtpClock
from protocols.gtp.go_board import GtpGoBoard
from protocols.gtp.messages import COLOURS, GtpError, ParsedCommand
from protocols.gtp.position_learning import PositionLearning
from protocols.gtp.resignation import DEFAULT_RESIGN_POLICY, ResignationTracker, ResignPolicy
from protocols.gtp.territory_pass import (
    PROBE_PLAYOUTS,
    pass_instead_of_wasted_move,
    without_probe_time,
)
from protocols.session_context import STANDALONE, SessionContext

if TYPE_CHECKING:
    from agent.agent import MoveProvider, Searcher
    from agent.clock import SearchClock

RESIGN = "resign"
CANCELLED = "cancelled"  # KataGo's response if other input has stopped the search
SESSION_ENDED = "the session has ended before a move was found"
NO_RESTRICTIONS: Limits[Any] = Limits()
MIN_MEGABYTES = 1  # for one search, if other sessions use most of the memory budget
# Seconds reserved in each move for transmission and for the last playout.
OVERHEAD = 0.05


@dataclass(frozen=True, slots=True)
class Settings:
    game: str = "go"  # a name in `agent.games.catalogue`
    options: Mapping[str, Any] = field(default_factory=dict)  # options of the game
    algorithm: str | None = None  # see `agent.search.algorithm_spec`
    evaluation: str = HANDCRAFTED.name  # see `agent.evaluation`
    experience: str = ""  # file of learned positions, or "" to disable learning
    book: bool = True  # use opening books and solved positions
    seconds: float = 5.0  # per move, if no clock is set
    depth: int | None = None
    nodes: int | None = None
    search_config: SearchConfig = DEFAULT_SEARCH_CONFIG
    resigns: bool = True  # in games of Go
    resign_policy: ResignPolicy = DEFAULT_RESIGN_POLICY
    ponders: bool = False
    rules: Ruleset = DEFAULT_RULES
    max_pv_length: int = 15  # moves in each variation of an analysis
    conservative_pass: bool = True  # in Go (see `GtpGoBoard.player_to_move`)
    level: int | None = None  # an index of GAME_LEVELS, or None for full strength
    habits: str = ""  # file of the opponent model, or "" to disable it (not for Go)


DEFAULT_SETTINGS = Settings()


class GtpSession:
    """The state of a GTP engine, which the command handlers read and change.

    The agent's thread calls `send`, which writes a part of a response and a newline. The
    constructor raises `ValueError` or `EvaluationError` if the settings are invalid.
    """

    def __init__(
        self,
        name: str,
        version: str,
        send: Callable[[str], None],
        report: Callable[[str], None],
        settings: Settings = DEFAULT_SETTINGS,
        session_context: SessionContext = STANDALONE,
        known_commands: Callable[[], list[str]] = list,
    ) -> None:
        self.known_commands = known_commands
        search_config, permissions = settings.search_config, session_context.permissions
        limited = replace(
            search_config,
            megabytes=min(search_config.megabytes, permissions.megabytes),
            threads=min(search_config.threads, permissions.threads),
            at_once=search_config.at_once and session_context.budget is None,
        )
        settings = replace(settings, search_config=limited)
        self.permissions = permissions
        self._scheduler = session_context.scheduler
        self._budget = session_context.budget
        self._reserved_megabytes = 0
        self.name = name
        self.version = version
        self.send = send
        self.report = report
        self.settings = settings
        game_type = catalogue.find(settings.game)
        is_go = issubclass(game_type.game_class, Go)
        self.board = (
            GtpGoBoard(
                game_type,
                settings.options,
                self._judge,
                settings.rules,
                conservative_pass=settings.conservative_pass,
            )
            if is_go
            else GtpBoard(game_type, settings.options)
        )
        if settings.rules != DEFAULT_RULES and not is_go:
            raise ValueError(f"--rules: not supported for {game_type.name} (only for Go)")
        if settings.habits and is_go:
            raise ValueError("--opponents: not supported for Go")
        board = self.board
        self.opponent = GameOpponentModel(
            report,
            game_type.name,
            settings.habits,
            lambda: (board.options_text, board.moves),
        )
        self._random = Random(settings.search_config.seed)
        self._level_seed = Random(settings.search_config.seed).getrandbits(32)
        self._advisor: ProviderChain[Any] = ProviderChain(self._create_advisors)
        self.backend = self._create_backend(settings)
        self._learning = PositionLearning(
            settings.experience, settings.algorithm, board.game, report
        )
        self.agent: Agent[Game[Any], Any] = Agent(
            self.backend,
            AnalysisReporter(report),
            GamePositionAdapter(),
            OVERHEAD,
            move_providers=(self.opponent, self._advisor),
            wrappers=(self._with_level, self._learning.wrap),
            scheduler=session_context.scheduler,
        )
        self._time_system = UNLIMITED
        self._clocks = [GtpClock(UNLIMITED), GtpClock(UNLIMITED)]
        self.resignation = ResignationTracker()
        self.closing = False  # Set before `close` stops the searches.
        # The listener of the last search for several lines, and the key of its position.
        self._last_listener: AnalysisReporter | None = None
        self._last_key: Hashable = None
        self._thinking_time = 0.0  # of the last call of `think`, in seconds
        self._total_thinking_time = 0.0
        self._has_moved = False
        self.current_command = ParsedCommand("", "", "")
        self._job: Job | None = None

    @property
    def go_board(self) -> GtpGoBoard:
        assert isinstance(self.board, GtpGoBoard)
        return self.board

    # One command at a time, in the agent's thread.

    def begin_command(self, call: ParsedCommand, job: Job) -> None:
        self.current_command, self._job, self._has_moved = call, job, False

    def end_command(self) -> None:
        """Learn from the game if it is over, and think on the opponent's time after a move."""
        if isinstance(self.board, GtpGoBoard) and self._job is not None and self._job.stop.is_set():
            self.board.forget_statuses()
        self._learning.save(self.board.game)
        try:
            self.opponent.record_if_over(self.board.game)
        except Exception as error:  # noqa: BLE001 - the command has been answered
            self.report(describe(error))
        if self._has_moved and self.settings.ponders:
            self._ponder()

    def close(self, timeout: float) -> bool:
        """Stop all threads. Return whether they ended within about `timeout` seconds."""
        deadline = time.monotonic() + timeout
        self.closing = True
        ended = self.agent.close(timeout)
        if ended:
            self.backend.save()
            self._learning.close()
            if self._budget is not None:
                self._budget.release(self._reserved_megabytes)
                self._reserved_megabytes = 0
        return self.backend.close(max(deadline - time.monotonic(), 0.0)) and ended

    # Changes by commands.

    def change_settings(self, settings: Settings) -> None:
        """Change settings other than the game. A new `search_config` clears the search's memory.

        Raise `ValueError` or `EvaluationError` if the settings are invalid. Raise `MemoryError` if
        the shared memory budget is exhausted.
        """
        megabytes = settings.search_config.megabytes
        if self._budget is not None and megabytes != self.settings.search_config.megabytes:
            self._budget.resize(self._reserved_megabytes, megabytes)
            self._reserved_megabytes = megabytes
        if settings.search_config != self.settings.search_config:
            self._replace_backend(settings)
        self.settings = settings
        if isinstance(self.board, GtpGoBoard):
            self.board.conservative_pass = settings.conservative_pass
        self._last_listener = None

    def _reserve_memory(self) -> None:
        """Reserve memory before the first search. Reduce it if the shared budget is too small."""
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

    def new_game(self) -> None:
        """Reset the search, the learning and the clocks for a new game, but not the board."""
        self.backend.new_game()
        self._learning.new_game(self.board.game)
        self._advisor.new_game()
        self.opponent.new_game()
        self.agent.new_game()
        self.wait_until_loaded()
        self.start_clocks(self._time_system)
        self.on_position_changed()

    def wait_until_loaded(self) -> None:
        with others_may_run():
            wait_until_loaded(self.backend)

    def clear_cache(self) -> None:
        """Clear the search's memory, except for learned positions."""
        self.backend.new_game()
        self._last_listener = None

    def on_position_changed(self) -> None:
        """Reset the state that belongs to the previous position."""
        self.resignation.clear()
        self._last_listener = None

    def start_clocks(self, system: TimeSystem) -> None:
        self._time_system = system
        self._clocks = [GtpClock(system, self.agent.lag_estimator) for _ in COLOURS]

    def set_remaining_time(self, player: int, seconds: float, count: int) -> None:
        """Set a player's remaining time in seconds. See `GameClock.set_remaining`."""
        self._clocks[player].set_remaining(seconds, count)

    # Searches.

    def think(
        self,
        player: int,
        listener: AnalysisReporter | None = None,
        report_interval: ReportInterval = DEFAULT_REPORT_INTERVAL,
        move_restrictions: Limits[Any] = NO_RESTRICTIONS,
    ) -> Result[Any]:
        """Search for a player's move within the time on the clock, or draw a chance event.

        Only the fields `search_moves`, `restrictions` and `moves_ownership` of `move_restrictions`
        are used. Raise `GtpError` if the session ends before a move is found.
        """
        if self.closing:
            raise GtpError(SESSION_ENDED)
        assert self._job is not None
        start_time = time.monotonic()
        limits = _with_restrictions(self._limits(player), move_restrictions)
        with self.board.player_to_move(player):
            game = self.board.game
            if isinstance(game, ChanceGame) and game.turn == CHANCE:
                result = Result(draw_event(game, self._random.random()))
            else:
                listener = listener or AnalysisReporter(self.report)
                search = self._prepare_search(limits, listener, report_interval)
                with others_may_run():
                    result = search.run(self._job)
        if self.closing and result.info is None:
            raise GtpError(SESSION_ENDED)
        if isinstance(self.board, GtpGoBoard):
            result = pass_instead_of_wasted_move(
                self.board,
                player,
                result,
                limits,
                self.backend,
                self.settings.search_config.threads,
                lambda seconds: self._probe(1 - player, seconds),
            )
        self._thinking_time = time.monotonic() - start_time
        self._total_thinking_time += self._thinking_time
        return result

    def play_result(self, player: int, result: Result[Any], *, never_resign: bool = False) -> str:
        """Play the move that `think` found, deduct the time used, and return the move as text.

        Return "resign" in a lost game of Go, unless `never_resign` is set.
        """
        self._clocks[player].spend(self._thinking_time, result.planned_time)
        text = self.result_text(player, result, never_resign=never_resign)
        if text != RESIGN:
            self.board.play_move(player, result.move)
            self._has_moved = True
        return text

    def result_text(self, player: int, result: Result[Any], *, never_resign: bool = False) -> str:
        """Return what `play_result` returns, but do not play the move."""
        board, settings = self.board, self.settings
        if isinstance(board, GtpGoBoard) and settings.resigns and not never_resign:
            lost = self.resignation.should_resign(player, result.info, settings.resign_policy)
            if lost and not board.is_early and result.move != PASS:
                return RESIGN
        return board.game.text(result.move)

    def stop_on_input(self) -> None:
        """Stop the search of this command when another line arrives."""
        assert self._job is not None
        self._job.superseded.add_callback(self._job.stop.set)

    def result_text_unless_cancelled(self, player: int, result: Result[Any]) -> str:
        """Return `result_text`, or "cancelled" if another line has arrived during the search."""
        assert self._job is not None
        if self._job.superseded.is_set():
            return CANCELLED
        return self.result_text(player, result)

    def _probe(self, player: int, seconds: float) -> Info[Any] | None:
        assert self._job is not None
        limits: Limits[Any] = Limits(nodes=PROBE_PLAYOUTS, movetime=seconds + OVERHEAD)
        with self.board.player_to_move(player):
            search = self._prepare_search(limits, AnalysisReporter(self.report))
            with others_may_run():
                return search.run(self._job).info

    def analyze(
        self,
        player: int,
        listener: AnalysisReporter,
        report_interval: ReportInterval,
        move_restrictions: Limits[Any] = NO_RESTRICTIONS,
    ) -> None:
        """Analyse the position for a player until the next input."""
        assert self._job is not None
        self.stop_on_input()
        with self.board.player_to_move(player):
            limits = _with_restrictions(Limits(infinite=True), move_restrictions)
            search = self._prepare_search(limits, listener, report_interval)
            with others_may_run():
                search.run(self._job)

    def analyze_region(
        self,
        player: int,
        listener: AnalysisReporter,
        report_interval: ReportInterval,
        limits: Limits[Any],
        region: Sequence[str],
    ) -> None:
        """Analyse a region of the Go board until the next input, as if it were the whole board."""
        board, job = self.go_board, self._job
        assert job is not None
        vertices = [board.vertex(text) for text in region]
        search = region_search(self.backend, board.game, player, vertices)
        if search is None:  # The Python search scores the whole board.
            self.analyze(player, listener, report_interval, limits)
            return
        self.stop_on_input()
        job.stop.add_callback(search.stop)
        next_report, level = time.monotonic() + report_interval.first, []
        with self.computing() as should_continue:
            for level in search.levels(replace(limits, infinite=True)):
                if time.monotonic() >= next_report:
                    listener.show(level)
                    next_report = time.monotonic() + report_interval.every
                if not should_continue():
                    break
        listener.show(level)
        wait_for_any(job.stop)

    def analysis_lines(self, player: int) -> Sequence[Info[Any]]:
        """Return the lines from the last search, or from a new search if the position is new."""
        with self.board.player_to_move(player):
            key = self.board.game.key()
        if self._last_listener is None or self._last_key != key or not self._last_listener.lines:
            self._last_listener = AnalysisReporter(self.report, max_lines=ALL_MOVES)
            self.think(player, self._last_listener)
        return self._last_listener.lines

    def cpu_time(self) -> float:
        """Return the processor time of the engine in seconds.

        In a process with other sessions, return the duration of this session's searches.
        """
        return time.process_time() if self._scheduler is None else self._total_thinking_time

    def _prepare_search(
        self,
        limits: Limits[Any],
        listener: AnalysisReporter,
        report_interval: ReportInterval = DEFAULT_REPORT_INTERVAL,
    ) -> SearchRun[Game[Any], Any]:
        self._reserve_memory()
        if listener.max_lines > 1 and not (limits.search_moves or limits.restrictions):
            self._last_listener, self._last_key = listener, self.board.game.key()
        lines = self.backend.max_lines or listener.max_lines
        return self.agent.prepare_search(self.board.game, limits, lines, listener, report_interval)

    def _ponder(self) -> None:
        game = self.board.game
        if game.outcome() is not None or game.turn == CHANCE:
            return
        try:
            self.analyze(game.turn, AnalysisReporter(self.report), DEFAULT_REPORT_INTERVAL)
        except Exception as error:  # noqa: BLE001 - the command has been answered
            self.report(describe(error))

    def _limits(self, player: int) -> Limits[Any]:
        settings, moves_left = self.settings, self.board.moves_left
        clock = self._clocks[player].side_clock()
        if clock is None:
            clock = SideClock(0.0, overtime=Overtime(settings.seconds + OVERHEAD))
            moves_left = None
        board, movetime = self.board, self._clocks[player].system.max_move_time
        if isinstance(board, GtpGoBoard) and board.rules.territory:
            clock, movetime = without_probe_time(clock, movetime)
        return Limits(
            depth=settings.depth,
            nodes=settings.nodes,
            movetime=movetime,
            clock=clock,
            moves_to_go=moves_left,
        )

    def _replace_backend(self, settings: Settings) -> None:
        """Create a new backend, or keep the old backend if this raises an exception."""
        backend = self._create_backend(settings)
        self.backend.save()
        self.backend.close(0.0)
        self.backend = backend
        self.agent.source = backend
        backend.start()

    def _create_backend(self, settings: Settings) -> GameBackend[Any] | CompiledBackend[Any]:
        backend = create_backend(
            self.board.game_type,
            lambda: self.board.game,
            self.report,
            algorithm=settings.algorithm,
            evaluation=settings.evaluation,
            search_config=settings.search_config,
        )
        if isinstance(self.board, GtpGoBoard):
            self.board.is_compiled = isinstance(backend, CompiledBackend)
        return backend

    def _with_level(
        self, searcher: Searcher[Game[Any], Any], clock: SearchClock[Any]
    ) -> Searcher[Game[Any], Any]:
        if self.settings.level is None:
            return searcher
        level = GAME_LEVELS[self.settings.level]
        return LimitedGameSearch(searcher, level, self._level_seed, self.backend.max_lines)

    def _judge(self, game: Go) -> Statuses:
        with self.computing() as should_continue:
            return dead_stone_judge(self.backend, game, should_continue)(game)

    def playout_ownership(self) -> tuple[float, ...]:
        """Return the owners of the points by Python playouts, see `chain_status.ownership`."""
        with self.computing():
            return ownership(self.go_board.game)

    def fate_search(self, should_continue: ShouldContinue) -> FateSearch:
        """Return a search for the fate of stones in the current game of Go."""
        search = stone_fate_search(self.backend, self.go_board.game, should_continue)

        def search_unless_stopped(stones: int, player: int) -> Fate:
            return search(stones, player) if should_continue() else Fate(0.0, PASS)

        return search_unless_stopped

    @contextmanager
    def computing(self) -> Iterator[ShouldContinue]:
        """Provide the function that a long computation polls, and share the processor meanwhile."""
        assert self._job is not None
        stop = self._job.stop
        if self._scheduler is None:
            yield lambda: not stop.is_set()
            return
        slot = self._scheduler.register(NoDeadline())
        stop.add_callback(slot.stop)
        try:
            with others_may_run():
                slot.acquire()
                yield slot.acquire
        finally:
            slot.release()

    def _create_advisors(self) -> Sequence[MoveProvider[Game[Any], Any]]:
        board = self.board
        if not self.settings.book:
            return ()
        return move_providers(board.game_type, board.create_game(), self._random)


def _with_restrictions(limits: Limits[Any], other: Limits[Any]) -> Limits[Any]:
    return replace(
        limits,
        search_moves=other.search_moves,
        restrictions=other.restrictions,
        moves_ownership=other.moves_ownership,
    )
