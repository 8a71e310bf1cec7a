"""The GTP engine, without input and output: lines in, lines out, a thinker in between.

Begin reading at COMMANDS, at the end: the table serves dispatch and listing. The reader of lines
only queues them; one worker answers them in order, so that input can end an analysis.
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
from agent.games.go import Go
from agent.lag import Lag
from agent.limits import Limits
from agent.player import describe
from agent.threads.latch import wait_for_any
from agent.threads.task_thread import Job, TaskThread
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
    from agent.thinker import Plan, Thinker, Thought

# So many lines may wait to be answered before no more are read.
MOST_WAITING = 256
INTERRUPT = "# interrupt"

Line = Callable[["Sequence[Thought[Any]]", Callable[[Any], str], int], str]


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
        self._evaluate = kind.evaluation(settings.evaluation)
        self._name = name
        self._version = version
        self._send = send
        self._report = report
        self._settings = settings
        self._random = Random(settings.seed)
        self._thinker: Thinker[Any] | None = None
        self._advisors: Sequence[Advisor[Game[Any], Any]] | None = None
        self._system = UNLIMITED
        self._lag = Lag()
        self._times = [SideTime(UNLIMITED), SideTime(UNLIMITED)]
        self._call = Call("", "", ())
        self._job: Job | None = None
        self._room = threading.Semaphore(MOST_WAITING)
        self._worker = TaskThread(lambda error: report(describe(error)), "gtp")
        self._make_thinker()

    def handle_line(self, line: str) -> Iterator[str]:
        """Take one line; its answer is sent later. Waits while very many lines are unanswered."""
        for job in self._worker.asked():
            job.overtaken.set()
            if line.strip().lower() == INTERRUPT:
                job.stop.set()
        call = parse_line(line)
        if call is not None:
            self.finished = call.name == "quit"
            self._room.acquire()
            self._worker.do(lambda job: self._answer(job, call), lengthy=True)
        yield from ()

    def overlong_line(self) -> Iterator[str]:
        """Say that a line was dropped."""
        yield failure(Call("", "", ()), "the line is too long")

    def drain(self, timeout: float | None = None) -> bool:
        """After the last line: end an analysis, and wait until all lines are answered."""
        for job in self._worker.asked():
            job.overtaken.set()
        return self._worker.wait(timeout)

    def close(self, timeout: float) -> bool:
        """Stop everything; return whether all threads ended within about `timeout` seconds."""
        ended = self._worker.close(timeout)
        if ended and self._thinker is not None:
            self._thinker.keep()
        return ended

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
        move, _ = self._best(player, self._plan(player))
        return self.board.game.text(move)

    def _undo(self, arguments: Arguments) -> str:
        arguments.end()
        self.board.undo()
        return ""

    def _play_best(self, player: int) -> str:
        """Find a move, make it, and take its time off the clock."""
        began = time.monotonic()
        plan = self._plan(player)
        move, _ = self._best(player, plan)
        text = self.board.game.text(move)
        self.board.play_found(player, move)
        self._times[player].spend(time.monotonic() - began, plan.seconds)
        return text

    def _best(
        self,
        player: int,
        plan: Plan,
        listen: Callable[[Sequence[Thought[Any]]], None] | None = None,
        interval: float = 1.0,
        until_overtaken: bool = False,
    ) -> tuple[Any, Sequence[Any]]:
        """Return a move for a player and the line that it begins; chance draws its events."""
        from agent.thinker import draw_event

        assert self._job is not None
        assert self._thinker is not None
        with self.board.turned_to(player):
            game = self.board.game
            if isinstance(game, Chance) and game.turn == CHANCE:
                event: Any = draw_event(game, self._random.random())
                return event, (event,)
            if not until_overtaken and (line := self._advice(plan.seconds)):
                return line[0], line
            stop = self._job.stop
            if until_overtaken:
                self._job.overtaken.then(stop.set)
            thought = self._thinker.think(game, plan, stop, listen, interval)
            return thought.move, thought.line

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
        self._times = [SideTime(system, self._lag), SideTime(system, self._lag)]
        return ""

    def _plan(self, player: int) -> Plan:
        """Return how long to think about a player's next move."""
        from agent.thinker import Plan

        seconds = self._settings.seconds
        if not self._system.unlimited:
            seconds = self._times[player].for_move(self.board.moves_left)
        settings = self._settings
        return Plan(seconds, settings.depth, settings.playouts, settings.nodes)

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
        from protocols.gtp.analysis import lz_line

        self._analyze(arguments, lz_line)

    def _kata_analyze(self, arguments: Arguments) -> None:
        from protocols.gtp.analysis import kata_line

        self._analyze(arguments, kata_line)

    def _lz_genmove_analyze(self, arguments: Arguments) -> None:
        from protocols.gtp.analysis import lz_line

        self._analyze(arguments, lz_line, play=True)

    def _kata_genmove_analyze(self, arguments: Arguments) -> None:
        from protocols.gtp.analysis import kata_line

        self._analyze(arguments, kata_line, play=True)

    def _analyze(self, arguments: Arguments, line: Line, play: bool = False) -> None:
        """Think aloud: until any input, or to play."""
        from agent.thinker import Plan
        from protocols.gtp.analysis import read_request

        request = read_request(arguments)
        player = self.board.turn if request.player is None else request.player
        with self.board.turned_to(player):
            game = self.board.game
            if game.turn == CHANCE:
                raise GtpError("nothing to analyze: chance is to move")
            moves = sum(1 for _ in game.moves())

        def tell(thoughts: Sequence[Thought[Any]]) -> None:
            self._send(line(thoughts[: request.most_moves], self.board.game.text, moves))

        self._send(f"={self._call.id}")
        began = time.monotonic()
        try:
            plan = self._plan(player) if play else Plan()
            move, _ = self._best(player, plan, tell, request.interval, until_overtaken=not play)
            if play:
                text = self.board.game.text(move)
                self.board.play_found(player, move)
                self._times[player].spend(time.monotonic() - began, plan.seconds)
                self._send(f"play {text}")
            elif self._job is not None:  # there may be nothing more to find before the next input
                wait_for_any(self._job.overtaken, self._job.stop)
        except Exception as error:  # noqa: BLE001 - the answer has begun and must end
            self._report(describe(error))
        self._send("")

    # The search.

    def _make_thinker(self) -> None:
        from agent.thinker import Thinker, default_algorithm, make_search

        settings, game = self._settings, self.board.game
        algorithm = settings.algorithm or default_algorithm(game)
        search = make_search(algorithm, game, self._evaluate, settings.seed)
        self._thinker = Thinker(search, self._report)

    def _advice(self, seconds: float) -> tuple[Any, ...]:
        """Return the line that a book or solved values give for this position; () if none do."""
        if self._advisors is None:
            from openings.game_book import advisors

            board = self.board
            asked = self._settings.book
            self._advisors = advisors(board.kind, board.new(), self._random) if asked else ()
        limits: Limits[Any] = Limits(movetime=seconds)
        for advisor in self._advisors:
            try:
                if advice := advisor.advise(self.board.game, limits, 1):
                    return advice.pv
            except Exception as error:  # noqa: BLE001 - there is still the search
                self._report(describe(error))
        return ()

    def _new_game(self) -> None:
        """Forget what was learned of the last game but for good, and start the clocks again."""
        if self._thinker is not None:
            self._thinker.keep()
        self._make_thinker()
        self._advisors = None
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
