"""What the commands of GTP act on: a board, clocks, and a player in between."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any

from agent.compiled.source import USUAL_MEANS, CompiledSource, Means
from agent.evaluation import HANDCRAFTED
from agent.experience.game_notation import SURPRISE, name_of
from agent.experience.searcher import ExperiencedSource
from agent.game import CHANCE, Chance, Game
from agent.games import catalogue
from agent.games.chance import draw_event
from agent.games.go import Go
from agent.games.life import Statuses
from agent.games.reader import GameReader
from agent.games.stones import PASS
from agent.limits import Info, Limits, Overtime, Result, SideClock
from agent.player import USUAL_PACE, Pace, Player, describe
from agent.search import configuration
from agent.search.killer_memory import KillerMemory
from agent.search.searcher import GameSearcher
from agent.search.source import GameSource
from agent.sources import judge_of, quick_judge_of, settle, source_for
from agent.threads.task_thread import Job
from agent.threads.turns import Untimed
from openings.game_book import GameAdvisor, advisors
from opponents.game_memory import GameMemory
from protocols.allowance import ALONE, Allowance
from protocols.gtp.analysis import EVERY_MOVE, Aloud
from protocols.gtp.boards import GameBoard
from protocols.gtp.clocks import UNLIMITED, SideTime, TimeSystem
from protocols.gtp.go_board import GoBoard
from protocols.gtp.resignation import USUAL_RESIGN_RATE, Resignation, ResignRate
from protocols.gtp.rules import USUAL_RULES, GoRules
from protocols.gtp.values import COLOURS, Call, GtpError

if TYPE_CHECKING:
    from agent.player import Advisor, Source

RESIGN = "resign"
ENDS = "the session ends before a move is found"
UNRESTRICTED: Limits[Any] = Limits()
# Of what a search remembers, where other sessions have all the rest.
LEAST_MEGABYTES = 1
# What is kept free of each move, in seconds: the way to the front end, and the end of a playout.
OVERHEAD = 0.05
# Where territory is scored, whether a move may be left out is asked in so many playouts; for
# these, and for those that tell the dead stones, each has this share of a move's time. Of the main
# time a move is taken to have one part.
PROBE, PROBE_SHARE, PARTS_OF_MAIN_TIME = 5000, 0.1, 40
LEAST_PROBE, PASS_COSTS = 100, 0.2
_JUDGED = 2000  # the playouts of agent.go.life, which is imported with the kernels only


@dataclass(frozen=True, slots=True)
class Settings:
    """What is to be played, and how.

    game: as agent.games.catalogue finds it; options: of its class. algorithm: as
    agent.search.configuration reads it; what suits the game without it. evaluation: whose it is, as
    in agent.evaluation. experience: the file of what play has taught, if any. book: ask books and
    solved values before searching. seconds: for a move while no clock runs. depth, nodes: the most
    for a move, if given. means: what the search may use. resigns: lost games of Go are given up, by
    the rate. ponders: think on after a move. rules: of Go, until others are set. longest_pv: the
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
    means: Means = USUAL_MEANS
    resigns: bool = True
    resign_rate: ResignRate = USUAL_RESIGN_RATE
    ponders: bool = False
    rules: GoRules = USUAL_RULES
    longest_pv: int = 15
    habits: str = ""


USUAL_SETTINGS = Settings()


class GtpPlay(ABC):
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
        settings: Settings = USUAL_SETTINGS,
        allowance: Allowance = ALONE,
    ) -> None:
        means, permissions = settings.means, allowance.permissions
        granted = replace(
            means,
            megabytes=min(means.megabytes, permissions.megabytes),
            threads=min(means.threads, permissions.threads),
            at_once=means.at_once and allowance.budget is None,
        )
        settings = replace(settings, means=granted)
        self.permissions = permissions
        self._turns = allowance.turns
        self._budget = allowance.budget
        self._taken = 0  # of the budget
        self.name = name
        self.version = version
        self.send = send
        self.report = report
        self.settings = settings
        kind = catalogue.find(settings.game)
        self.board = (
            GoBoard(kind, settings.options, self._judge, settings.rules)
            if issubclass(kind.game, Go)
            else GameBoard(kind, settings.options)
        )
        if settings.rules != USUAL_RULES and not issubclass(kind.game, Go):
            raise ValueError("--rules: only Go has rules to choose among")
        if settings.habits and issubclass(kind.game, Go):
            raise ValueError("--habits: opponents are remembered in games other than Go")
        board = self.board
        self.opponent = GameMemory(
            settings.habits, kind.name, lambda: board.texts, lambda: board.start, report
        )
        self._random = Random(settings.means.seed)
        self._advisor: GameAdvisor[Any] = GameAdvisor(self._find_advisors)
        self._source = self._find_source(settings)
        self._memory = self._find_memory()
        self._player: Player[Game[Any], Any] = Player(
            self._heeding(self._source),
            Aloud(report),
            GameReader(),
            OVERHEAD,
            advisors=(self.opponent, self._advisor),
            turns=allowance.turns,
        )
        self._system = UNLIMITED
        self._times = [SideTime(UNLIMITED), SideTime(UNLIMITED)]
        self.resignation = Resignation()
        self.closing = False  # a search that is stopped now was stopped by the end
        # What the last search of many lines found, and about which position.
        self._found: tuple[object, Sequence[Info[Any]]] = (None, ())
        self._moved = False
        self.call = Call("", "", ())
        self._job: Job | None = None

    @property
    def go_board(self) -> GoBoard:
        """The board of a game of Go."""
        assert isinstance(self.board, GoBoard)
        return self.board

    @abstractmethod
    def known(self) -> list[str]:
        """Return the names of the commands that the game has."""

    # What a session is told.

    def change(self, settings: Settings) -> None:
        """Go on with other settings, but of the same game.

        Raises ValueError or EvaluationError, changing nothing, for settings that cannot be. A
        search that has to be made anew forgets what it knew. Raises MemoryError if all sessions
        together have no room for it.
        """
        wanted = settings.means.megabytes
        if self._budget is not None and wanted != self.settings.means.megabytes:
            self._budget.change(self._taken, wanted)
            self._taken = wanted
        if settings.means != self.settings.means:
            self._search_with(settings)
        self.settings = settings
        self._found = (None, ())

    def _take_memory(self) -> None:
        """Take the part of the budget, or what there is of it, unless that was done."""
        if self._budget is None or self._taken:
            return
        means = self.settings.means
        self._taken = self._budget.take(means.megabytes, LEAST_MEGABYTES)
        if self._taken < means.megabytes:
            settings = replace(self.settings, means=replace(means, megabytes=self._taken))
            self._search_with(settings)
            self.settings = settings

    def keep(self) -> None:
        """Write what was learned for good, when all is over."""
        if self._memory is not None:
            self._memory.experience.close()

    def give_memory_back(self) -> None:
        """Give the part of the budget back; the searches must have ended."""
        if self._budget is not None:
            self._budget.give(self._taken)
            self._taken = 0

    def new_game(self) -> None:
        """Forget what was learned of the last game but for good, and start the clocks again.

        Before that, it waits for what has only to be loaded: see `settle`.
        """
        self._source.new_game()
        self._begin_learning()
        self._advisor.new_game()
        self.opponent.new_game()
        self._player.new_game()
        self.settle()
        self.start_clocks(self._system)
        self.turned_back()

    def settle(self) -> None:
        """Wait for what has only to be loaded, which no move could wait for where a clock runs."""
        settle(self._source)

    def forget(self) -> None:
        """Let the next search begin with nothing; what was learned for good stays."""
        self._source.new_game()
        self._found = (None, ())

    def turned_back(self) -> None:
        """Take the position for one that does not follow from the last."""
        self.resignation.clear()
        self._found = (None, ())

    def start_clocks(self, system: TimeSystem) -> None:
        """Let both sides' clocks begin anew."""
        self._system = system
        self._times = [SideTime(system, self._player.lag) for _ in COLOURS]

    def set_left(self, player: int, seconds: float, count: int) -> None:
        """Believe what a player's clock is said to show."""
        self._times[player].set_left(seconds, count)

    # Thinking.

    def play_best(
        self,
        player: int,
        listener: Aloud | None = None,
        pace: Pace = USUAL_PACE,
        within: Limits[Any] = UNRESTRICTED,
        *,
        to_the_end: bool = False,
    ) -> str:
        """Find a move, make it, take its time off the clock, and return it.

        A lost game of Go may be given up instead, unless it is played to the end. within: only
        these `search_moves` and `restrictions`, and tell the `owners_after`; nothing else of it.
        """
        self.board.require_room()
        if self.closing:
            raise GtpError(ENDS)
        began = time.monotonic()
        result = self.best(player, listener or Aloud(self.report), pace, within)
        if self.closing and result.info is None:
            raise GtpError(ENDS)
        self._times[player].spend(time.monotonic() - began, result.meant)
        if not to_the_end and self._gives_up(player, result):
            return RESIGN
        text = self.board.game.text(result.move)
        self.board.play_found(player, result.move)
        self._moved = True
        return text

    def _gives_up(self, player: int, result: Result[Any]) -> bool:
        board, settings = self.board, self.settings
        if not isinstance(board, GoBoard) or not settings.resigns:
            return False
        lost = self.resignation.given_up(player, result.info, settings.resign_rate)
        return lost and not board.early and result.move != PASS

    def best(
        self,
        player: int,
        listener: Aloud,
        pace: Pace = USUAL_PACE,
        within: Limits[Any] = UNRESTRICTED,
    ) -> Result[Any]:
        """Return a move for a player, on the clock; chance draws its events."""
        with self.board.turned_to(player):
            game = self.board.game
            if isinstance(game, Chance) and game.turn == CHANCE:
                return Result(draw_event(game, self._random.random()))
            limits = _within(self._limits(player), within)
            result = self._think(limits, listener, pace)
        return self._sparing(player, result, limits)

    def _sparing(self, player: int, result: Result[Any], limits: Limits[Any]) -> Result[Any]:
        """Return the answer, or a pass where the move would only cost a point of territory.

        The search counts area, to which stones in a territory are worth nothing and cost nothing.
        """
        board, info, among = self.board, result.info, limits.search_moves
        if not isinstance(board, GoBoard) or not board.rules.territory or board.game.captures_all:
            return result
        move = result.move
        if move is None or move == PASS or (among and PASS not in among) or info is None:
            return result
        if info.expected is None or info.owners is None:
            return result
        if not board.idle(player, move, info.owners):
            return result
        seconds = PROBE_SHARE * _time_of_a_move(limits)
        found = self._probe(1 - player, seconds)
        result = replace(result, meant=None)  # that was longer
        if found is None or found.expected is None or found.owners is None:
            return result
        if found.nodes < LEAST_PROBE or info.expected + found.expected > PASS_COSTS:
            return result
        before = board.points(player, player, info.owners)
        after = board.points(player, 1 - player, found.owners)
        # All threads have searched, one judges.
        judging = _JUDGED * self.settings.means.threads * found.time
        if after < before or judging > seconds * found.nodes:
            return result
        # Both may pass now: what is said of the end then must be what the search expects. Playouts
        # alone are asked, whose time is known.
        statuses = quick_judge_of(self._source, board.game)(board.game)
        end = -board.result(statuses) if player else board.result(statuses)
        return replace(result, move=PASS) if end == before else result

    def _probe(self, player: int, seconds: float) -> Info[Any] | None:
        """Return what a short search finds if it is a player's turn."""
        with self.board.turned_to(player):
            limits: Limits[Any] = Limits(nodes=PROBE, movetime=seconds + OVERHEAD)
            return self._think(limits, Aloud(self.report), USUAL_PACE).info

    def think_aloud(
        self, player: int, listener: Aloud, pace: Pace, within: Limits[Any] = UNRESTRICTED
    ) -> None:
        """Think about a player's move until there is any input."""
        assert self._job is not None
        self._job.overtaken.then(self._job.stop.set)
        with self.board.turned_to(player):
            self._think(_within(Limits(infinite=True), within), listener, pace)

    def lines(self, player: int) -> Sequence[Info[Any]]:
        """Return what a search finds of a player's moves: the last one, or one as for a move."""
        with self.board.turned_to(player):
            key = self.board.game.key()
        if self._found[0] != key or not self._found[1]:
            self.best(player, Aloud(self.report, most_lines=EVERY_MOVE))
        return self._found[1]

    def _think(self, limits: Limits[Any], listener: Aloud, pace: Pace) -> Result[Any]:
        assert self._job is not None
        self._take_memory()
        lines = self._source.most_lines or listener.most_lines
        result = self._player.think(self._job, self.board.game, limits, lines, listener, pace)
        if listener.most_lines > 1 and not (limits.search_moves or limits.restrictions):
            self._found = (self.board.game.key(), listener.lines)
        return result

    def _ponder(self) -> None:
        """Think on the other's time, until there is any input; the search keeps what it finds."""
        game = self.board.game
        if game.outcome() is not None or game.turn == CHANCE:
            return
        try:
            self.think_aloud(game.turn, Aloud(self.report), USUAL_PACE)
        except Exception as error:  # noqa: BLE001 - the command has been answered
            self.report(describe(error))

    def _limits(self, player: int) -> Limits[Any]:
        """Return what ends the search of a player's next move."""
        settings, moves_left = self.settings, None
        system = self._times[player].system
        if system.unlimited:
            clock = SideClock(0.0, overtime=Overtime(settings.seconds + OVERHEAD))
        else:
            clock, moves_left = self._times[player].clock(), self.board.moves_left
        board, most = self.board, system.most_a_move
        if isinstance(board, GoBoard) and board.rules.territory:
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

    def _search_with(self, settings: Settings) -> None:
        """Have another search made; raises as `source_for` does, and keeps the old one then."""
        source = self._find_source(settings)
        self._source.keep()
        self._source.close(0.0)
        self._source = source
        self._player.source = self._heeding(source)
        source.start()

    def _find_source(self, settings: Settings) -> GameSource[Any] | CompiledSource[Any]:
        return source_for(
            self.board.kind,
            lambda: self.board.game,
            self.report,
            algorithm=settings.algorithm,
            evaluation=settings.evaluation,
            means=settings.means,
        )

    # Experience: what play has taught, in games without chance.

    def learn(self) -> None:
        """Learn from the result if the game is over, and write what was learned."""
        if self._memory is None:
            return
        outcome = self.board.game.outcome()
        if outcome is not None:
            first = max(-1.0, min(1.0, outcome))
            self._memory.experience.conclude(lambda game: -first if game.turn else first)
        self._memory.experience.flush()

    def _find_memory(self) -> KillerMemory[Any] | None:
        """Return the memory that is asked for; raises ValueError if there can be none."""
        algorithm = self.settings.algorithm
        options = configuration.read(algorithm).options if algorithm else {}
        file = self.settings.experience or options.get("killer_memory")
        if not file:
            return None
        surprise = options.get("surprise", SURPRISE)
        return KillerMemory.kept_in(file, self.board.game, surprise, self.report)

    def _heeding(self, source: GameSource[Any] | CompiledSource[Any]) -> Source[Game[Any], Any]:
        """Return a source whose searches heed experience, if there is any."""
        if self._memory is None:
            return source
        return ExperiencedSource(source, self._memory.experience, prepare=self._teach)

    def _teach(self, searcher: object) -> None:
        """Let a plain search meet the lessons in its tree."""
        if isinstance(searcher, GameSearcher):
            searcher.killer_memory = self._memory

    def _begin_learning(self) -> None:
        """Begin another game, which may be of another size."""
        if self._memory is None:
            return
        if self._memory.experience.notation.game == name_of(self.board.game):
            self._memory.experience.new_game()
        else:
            self._memory.experience.close()
            self._memory = self._find_memory()
            self._player.source = self._heeding(self._source)

    def _judge(self, game: Go) -> Statuses:
        """Tell which stones are dead, in turns with other sessions, at once where it is to end."""
        assert self._job is not None
        stop = self._job.stop
        if self._turns is None:
            return judge_of(self._source, game, lambda: not stop.is_set())(game)
        turn = self._turns.enter(Untimed())
        stop.then(turn.stop)
        try:
            turn.take()
            return judge_of(self._source, game, turn.take)(game)
        finally:
            turn.leave()

    def _find_advisors(self) -> Sequence[Advisor[Game[Any], Any]]:
        """Return who gives moves from a book or solved values, if that is wanted."""
        board = self.board
        asked = self.settings.book
        return advisors(board.kind, board.new(), self._random) if asked else ()


def _within(limits: Limits[Any], other: Limits[Any]) -> Limits[Any]:
    """Return limits with the moves that others leave, and what these want to be told."""
    return replace(
        limits,
        search_moves=other.search_moves,
        restrictions=other.restrictions,
        owners_after=other.owners_after,
    )


def _time_of_a_move(limits: Limits[Any]) -> float:
    """Return about how many seconds a move may take."""
    clock = limits.clock
    if clock is None:
        return 0.0
    if clock.time <= 0 and clock.overtime is not None:
        return clock.overtime.seconds / clock.overtime.moves
    seconds = clock.time / PARTS_OF_MAIN_TIME + clock.increment
    return seconds if limits.movetime is None else min(seconds, limits.movetime)
