"""The GTP engine, without input and output: lines in, lines out, a player in between.

Begin reading at COMMANDS, at the end: the table serves dispatch and listing. The reader of lines
only queues them; the player answers them in order, so that input can end an analysis.
Source: 'Specification of the Go Text Protocol, version 2, draft 2' by Gunnar Farnebäck; the
gogui-rules commands of GoGui; lz-analyze and kata-analyze as Sabaki uses them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from agent.evaluation import HANDCRAFTED
from agent.game import CHANCE, Chance, Game
from agent.games import catalogue
from agent.games.chance import draw_event
from agent.games.go import Go
from agent.games.reader import GameReader
from agent.limits import Info, Limits, Overtime, Result, SideClock
from agent.player import USUAL_PACE, Pace, Player, describe
from agent.sources import source_for
from agent.threads.task_thread import Job
from openings.game_book import GameAdvisor, advisors
from protocols.gtp.analysis import Aloud, kata_line, lz_line, read_request
from protocols.gtp.boards import GameBoard, score_text, winner_text
from protocols.gtp.clocks import UNLIMITED, SideTime, TimeSystem, from_time_settings
from protocols.gtp.go_board import GoBoard
from protocols.gtp.values import (
    COLOURS,
    SYNTAX_ERROR,
    Arguments,
    Call,
    GtpError,
    failure,
    parse_line,
    success,
)

if TYPE_CHECKING:
    from agent.player import Advisor

# So many lines may wait to be answered before no more are read.
MOST_WAITING = 256
INTERRUPT = "# interrupt"
# What is kept free of each move, in seconds: the way to the front end, and the end of a playout.
OVERHEAD = 0.05

Line = Callable[[Sequence[Info[Any]], Callable[[Any], str], int], str]


@dataclass(frozen=True, slots=True)
class Settings:
    """What is to be played, and how.

    game: as agent.games.catalogue finds it; options: of its class. algorithm: as
    agent.search.configuration reads it; what suits the game without it. evaluation: whose it is,
    as in agent.evaluation. book: ask books and solved values before searching. seconds: for a
    move while no clock runs. depth, playouts, nodes: the most for a move, if given.
    """

    game: str = "go"
    options: Mapping[str, Any] = field(default_factory=dict)
    algorithm: str | None = None
    evaluation: str = HANDCRAFTED.name
    book: bool = True
    seconds: float = 5.0
    depth: int | None = None
    playouts: int | None = None
    nodes: int | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """One command. act: returns the answer; None if it has given it itself. go: of Go alone."""

    act: Callable[[Gtp, Arguments], str | None]
    go: bool = False


class Gtp:
    """One GTP engine.

    name, version: who it says it is. send: takes a piece of an answer, to which one line end is
    added, from the worker's thread. report: takes what a person should know.

    Raises ValueError or EvaluationError for settings that cannot be.
    """

    def __init__(
        self,
        name: str,
        version: str,
        send: Callable[[str], None],
        report: Callable[[str], None],
        settings: Settings = Settings(),
    ) -> None:
        self.finished = False
        kind = catalogue.find(settings.game)
        board = GoBoard if issubclass(kind.game, Go) else GameBoard
        self.board = board(kind, settings.options)
        self._name = name
        self._version = version
        self._send = send
        self._report = report
        self._settings = settings
        self._random = Random(settings.seed)
        self._advisor: GameAdvisor[Any] = GameAdvisor(self._find_advisors)
        self._source = source_for(
            kind,
            lambda: self.board.game,
            report,
            algorithm=settings.algorithm,
            evaluation=settings.evaluation,
            playouts=settings.playouts,
            seed=settings.seed,
        )
        self._player: Player[Game[Any], Any] = Player(
            self._source, Aloud(report), GameReader(), OVERHEAD, advisors=(self._advisor,)
        )
        self._system = UNLIMITED
        self._times = [SideTime(UNLIMITED), SideTime(UNLIMITED)]
        self._call = Call("", "", ())
        self._job: Job | None = None
        self._room = threading.Semaphore(MOST_WAITING)

    def handle_line(self, line: str) -> Iterator[str]:
        """Take one line; its answer is sent later. Waits while very many lines are unanswered."""
        for job in self._player.asked():
            job.overtaken.set()
            if line.strip().lower() == INTERRUPT:
                job.stop.set()
        self._source.start()
        call = parse_line(line)
        if call is not None:
            self.finished = call.name == "quit"
            self._room.acquire()
            self._player.do(lambda job: self._answer(job, call), lengthy=True)
        yield from ()

    def overlong_line(self) -> Iterator[str]:
        """Say that a line was dropped."""
        yield failure(Call("", "", ()), "the line is too long")

    def drain(self, timeout: float | None = None) -> bool:
        """After the last line: end an analysis, and wait until all lines are answered."""
        for job in self._player.asked():
            job.overtaken.set()
        return self._player.wait(timeout)

    def close(self, timeout: float) -> bool:
        """Stop everything; return whether all threads ended within about `timeout` seconds."""
        deadline = time.monotonic() + timeout
        ended = self._player.close(timeout)
        if ended:
            self._source.keep()
        return self._source.close(max(deadline - time.monotonic(), 0.0)) and ended

    def _answer(self, job: Job, call: Call) -> None:
        """Answer one command, whatever happens."""
        self._call, self._job = call, job
        try:
            text = self._act(call)
        except GtpError as error:
            self._send(failure(call, str(error)))
        except Exception as error:  # noqa: BLE001 - whatever a line does, the next is read
            self._send(failure(call, describe(error)))
        else:
            if text is not None:
                self._send(success(call, text))
        finally:
            self._room.release()

    def _act(self, call: Call) -> str | None:
        command = COMMANDS.get(call.name)
        if command is None or (command.go and not isinstance(self.board, GoBoard)):
            raise GtpError("unknown command")
        arguments = Arguments(call.arguments)
        text = command.act(self, arguments)
        arguments.end()
        return text

    @property
    def _go(self) -> GoBoard:
        assert isinstance(self.board, GoBoard)
        return self.board

    def _known(self) -> list[str]:
        go = isinstance(self.board, GoBoard)
        return [name for name, command in COMMANDS.items() if go or not command.go]

    # Administration.

    def _protocol_version(self, _: Arguments) -> str:
        return "2"

    def _tell_name(self, _: Arguments) -> str:
        return self._name

    def _tell_version(self, _: Arguments) -> str:
        return self._version

    def _known_command(self, arguments: Arguments) -> str:
        return "true" if arguments.word() in self._known() else "false"

    def _list_commands(self, _: Arguments) -> str:
        return "\n".join(self._known())

    def _nothing(self, _: Arguments) -> str:
        return ""

    # Setting up.

    def _boardsize(self, arguments: Arguments) -> str:
        size = arguments.number()
        arguments.end()
        self.board.resize(size)
        self._new_game()
        return ""

    def _clear_board(self, arguments: Arguments) -> str:
        arguments.end()
        self.board.clear()
        self._new_game()
        return ""

    def _komi(self, arguments: Arguments) -> str:
        komi = arguments.real()
        arguments.end()
        if isinstance(self.board, GoBoard):  # other games have none, but must know the command
            self._go.set_komi(komi)
        return ""

    def _fixed_handicap(self, arguments: Arguments) -> str:
        number = arguments.number()
        arguments.end()
        return self._go.fixed_handicap(number)

    def _place_free_handicap(self, arguments: Arguments) -> str:
        number = arguments.number()
        arguments.end()
        return self._go.place_free_handicap(number)

    def _set_free_handicap(self, arguments: Arguments) -> str:
        self._go.set_free_handicap(arguments.rest())
        return ""

    def _loadsgf(self, arguments: Arguments) -> str:
        words = [arguments.word(), *arguments.rest()]
        number = None
        if len(words) > 1 and words[-1].isascii() and words[-1].isdecimal() and len(words[-1]) < 9:
            number = int(words.pop())
        turn = self._go.load(" ".join(words), number)
        self._new_game()
        return COLOURS[turn]

    # Playing.

    def _play(self, arguments: Arguments) -> str:
        player, move = arguments.player(), arguments.word()
        arguments.end()
        self.board.play(player, move)
        return ""

    def _genmove(self, arguments: Arguments) -> str:
        player = arguments.player()
        arguments.end()
        return self._play_best(player)

    def _kgs_genmove_cleanup(self, arguments: Arguments) -> str:
        player = arguments.player()
        arguments.end()
        game = self._go.game
        game.captures_all = True
        try:
            return self._play_best(player)
        finally:
            game.captures_all = False

    def _reg_genmove(self, arguments: Arguments) -> str:
        player = arguments.player()
        arguments.end()
        return self.board.game.text(self._best(player, Aloud(self._report)).move)

    def _undo(self, arguments: Arguments) -> str:
        arguments.end()
        self.board.undo()
        return ""

    def _play_best(
        self, player: int, listener: Aloud | None = None, pace: Pace = USUAL_PACE
    ) -> str:
        """Find a move, make it, take its time off the clock, and return it."""
        began = time.monotonic()
        result = self._best(player, listener or Aloud(self._report), pace)
        text = self.board.game.text(result.move)
        self.board.play_found(player, result.move)
        self._times[player].spend(time.monotonic() - began, result.meant)
        return text

    def _best(self, player: int, listener: Aloud, pace: Pace = USUAL_PACE) -> Result[Any]:
        """Return a move for a player, on the clock; chance draws its events."""
        with self.board.turned_to(player):
            game = self.board.game
            if isinstance(game, Chance) and game.turn == CHANCE:
                return Result(draw_event(game, self._random.random()))
            return self._think(self._limits(player), listener, pace)

    def _think(self, limits: Limits[Any], listener: Aloud, pace: Pace) -> Result[Any]:
        assert self._job is not None
        lines = self._source.most_lines or listener.most_lines
        return self._player.think(self._job, self.board.game, limits, lines, listener, pace)

    # Time.

    def _time_settings(self, arguments: Arguments) -> str:
        system = from_time_settings(arguments.seconds(), arguments.seconds(), arguments.number())
        arguments.end()
        return self._start_clocks(system)

    def _kgs_time_settings(self, arguments: Arguments) -> str:
        kind = arguments.word().lower()
        if kind == "none":
            system = UNLIMITED
        elif kind == "absolute":
            system = TimeSystem(arguments.seconds())
        elif kind == "byoyomi":
            main, period, periods = arguments.seconds(), arguments.seconds(), arguments.number()
            system = TimeSystem(main, period if periods else 0.0, periods=periods if period else 0)
        elif kind == "canadian":
            main, period, stones = arguments.seconds(), arguments.seconds(), arguments.number()
            system = TimeSystem(main, period if stones else 0.0, stones if period else 0)
        elif kind == "fischer":
            system = TimeSystem(arguments.seconds(), increment=arguments.seconds())
        else:
            raise GtpError(SYNTAX_ERROR)
        arguments.end()
        return self._start_clocks(system)

    def _kata_list_time_settings(self, _: Arguments) -> str:
        return "none absolute byoyomi canadian fischer"

    def _time_left(self, arguments: Arguments) -> str:
        player, seconds, count = arguments.player(), arguments.real(), arguments.number()
        arguments.end()
        self._times[player].set_left(max(seconds, 0.0), count)
        return ""

    def _start_clocks(self, system: TimeSystem) -> str:
        self._system = system
        self._times = [SideTime(system, self._player.lag) for _ in COLOURS]
        return ""

    def _limits(self, player: int) -> Limits[Any]:
        """Return what ends the search of a player's next move."""
        settings, moves_left = self._settings, None
        if self._system.unlimited:
            clock = SideClock(0.0, overtime=Overtime(settings.seconds + OVERHEAD))
        else:
            clock, moves_left = self._times[player].clock(), self.board.moves_left
        return Limits(
            depth=settings.depth, nodes=settings.nodes, clock=clock, moves_to_go=moves_left
        )

    # Scoring and showing.

    def _final_score(self, _: Arguments) -> str:
        return score_text(self.board.result())

    def _final_status_list(self, arguments: Arguments) -> str:
        status = arguments.word()
        if status not in ("alive", "dead", "seki"):
            raise GtpError(SYNTAX_ERROR)
        return self._go.chains(status)  # type: ignore[arg-type]

    def _showboard(self, _: Arguments) -> str:
        return "\n" + str(self.board.game)

    def _rules_game_id(self, _: Arguments) -> str:
        return self.board.name

    def _rules_board(self, _: Arguments) -> str:
        return str(self.board.game)

    def _rules_board_size(self, _: Arguments) -> str:
        return str(self.board.size)

    def _rules_legal_moves(self, _: Arguments) -> str:
        return " ".join(self.board.legal())

    def _rules_side_to_move(self, _: Arguments) -> str:
        return COLOURS[self.board.turn]

    def _rules_final_result(self, _: Arguments) -> str:
        return winner_text(self.board.result())

    def _gogui_analyze_commands(self, _: Arguments) -> str:
        known = self._known()
        return "\n".join(
            line for line in ANALYZE_COMMANDS if line.split("/")[2].split()[0] in known
        )

    # Analysis.

    def _lz_analyze(self, arguments: Arguments) -> None:
        self._analyze(arguments, lz_line)

    def _kata_analyze(self, arguments: Arguments) -> None:
        self._analyze(arguments, kata_line)

    def _lz_genmove_analyze(self, arguments: Arguments) -> None:
        self._analyze(arguments, lz_line, play=True)

    def _kata_genmove_analyze(self, arguments: Arguments) -> None:
        self._analyze(arguments, kata_line, play=True)

    def _analyze(self, arguments: Arguments, line: Line, play: bool = False) -> None:
        """Think aloud: until any input, or to play."""
        request = read_request(arguments)
        player = self.board.turn if request.player is None else request.player
        with self.board.turned_to(player):
            game = self.board.game
            if game.turn == CHANCE:
                raise GtpError("nothing to analyze: chance is to move")
            moves = sum(1 for _ in game.moves())

        def tell(lines: Sequence[Info[Any]]) -> None:
            self._send(line(lines[: request.most_moves], self.board.game.text, moves))

        aloud = Aloud(self._report, tell, request.most_moves)
        pace = Pace(request.interval, request.interval)
        self._send(f"={self._call.id}")
        try:
            if play:
                self._send(f"play {self._play_best(player, aloud, pace)}")
            elif self._job is not None:
                self._job.overtaken.then(self._job.stop.set)
                with self.board.turned_to(player):
                    self._think(Limits(infinite=True), aloud, pace)
        except Exception as error:  # noqa: BLE001 - the answer has begun and must end
            self._report(describe(error))
        self._send("")

    def _find_advisors(self) -> Sequence[Advisor[Game[Any], Any]]:
        """Return who gives moves from a book or solved values, if that is wanted."""
        board = self.board
        asked = self._settings.book
        return advisors(board.kind, board.new(), self._random) if asked else ()

    def _new_game(self) -> None:
        """Forget what was learned of the last game but for good, and start the clocks again."""
        self._source.new_game()
        self._advisor.new_game()
        self._player.new_game()
        self._start_clocks(self._system)


# What GoGui offers in its window for analysis: type, label and command.
ANALYZE_COMMANDS = (
    "string/Final Score/final_score",
    "plist/Dead Stones/final_status_list dead",
    "plist/Living Stones/final_status_list alive",
    "plist/Stones in Seki/final_status_list seki",
    "string/Legal Moves/gogui-rules_legal_moves",
    "string/Side to Move/gogui-rules_side_to_move",
    "move/Best Move/reg_genmove %c",
    "hstring/Show Board/showboard",
)

COMMANDS: dict[str, Command] = {
    "protocol_version": Command(Gtp._protocol_version),
    "name": Command(Gtp._tell_name),
    "version": Command(Gtp._tell_version),
    "known_command": Command(Gtp._known_command),
    "list_commands": Command(Gtp._list_commands),
    "quit": Command(Gtp._nothing),
    "boardsize": Command(Gtp._boardsize),
    "clear_board": Command(Gtp._clear_board),
    "komi": Command(Gtp._komi),
    "fixed_handicap": Command(Gtp._fixed_handicap, go=True),
    "place_free_handicap": Command(Gtp._place_free_handicap, go=True),
    "set_free_handicap": Command(Gtp._set_free_handicap, go=True),
    "play": Command(Gtp._play),
    "genmove": Command(Gtp._genmove),
    "undo": Command(Gtp._undo),
    "time_settings": Command(Gtp._time_settings),
    "time_left": Command(Gtp._time_left),
    "kgs-time_settings": Command(Gtp._kgs_time_settings),
    "kata-time_settings": Command(Gtp._kgs_time_settings),
    "kata-list_time_settings": Command(Gtp._kata_list_time_settings),
    "final_score": Command(Gtp._final_score),
    "final_status_list": Command(Gtp._final_status_list, go=True),
    "loadsgf": Command(Gtp._loadsgf, go=True),
    "reg_genmove": Command(Gtp._reg_genmove),
    "showboard": Command(Gtp._showboard),
    "kgs-genmove_cleanup": Command(Gtp._kgs_genmove_cleanup, go=True),
    "kgs-game_over": Command(Gtp._nothing),
    "gogui-rules_game_id": Command(Gtp._rules_game_id),
    "gogui-rules_board": Command(Gtp._rules_board),
    "gogui-rules_board_size": Command(Gtp._rules_board_size),
    "gogui-rules_legal_moves": Command(Gtp._rules_legal_moves),
    "gogui-rules_side_to_move": Command(Gtp._rules_side_to_move),
    "gogui-rules_final_result": Command(Gtp._rules_final_result),
    "gogui-analyze_commands": Command(Gtp._gogui_analyze_commands),
    "gogui-interrupt": Command(Gtp._nothing),
    "lz-analyze": Command(Gtp._lz_analyze),
    "lz-genmove_analyze": Command(Gtp._lz_genmove_analyze),
    "kata-analyze": Command(Gtp._kata_analyze),
    "kata-genmove_analyze": Command(Gtp._kata_genmove_analyze),
}
