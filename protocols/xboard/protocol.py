"""xboard's protocol (CECP), without input and output: lines in, lines out, a player in between.

Begin reading at COMMANDS, at the end, which serves dispatch and listing; the options are in
protocols.xboard.features. What goes on between commands is XboardPlay's.
Source: 'Chess Engine Communication Protocol', version 2, by Tim Mann and H.G. Muller.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from agent.limits import Info, Limits, Progress, Result
from agent.player import PlayerError, describe
from protocols.permissions import refusal
from protocols.uci.options import Option, find
from protocols.uci.play import SHARED, ChessPlay
from protocols.uci.position import LONGEST_GAME, read_board
from protocols.uci.values import UciError, parse_nothing
from protocols.xboard.draws import verdict
from protocols.xboard.features import (
    FISCHERANDOM,
    HASH,
    OPTIONS,
    TABLES,
    THREADS,
    VARIANTS,
    feature_lines,
    spelled,
)
from protocols.xboard.play import Mode, Purpose, Replies, XboardPlay
from protocols.xboard.text import comment, error_line, illegal_line, status_line, warning
from protocols.xboard.values import (
    BARE_MOVE,
    LevelCommand,
    NamedValue,
    find_move,
    parse_centiseconds,
    parse_count,
    parse_level,
    parse_option,
    parse_seconds,
    parse_tables,
    parse_text,
)

if TYPE_CHECKING:
    import chess

    from agent.chess.engine import Engine
    from agent.threads.task_thread import Job

UNKNOWN = "unknown command"
NOT_NOW = "command not legal now"
# How long a hint is thought about where none is known, in seconds.
HINT_TIME = 1.0
# What front ends say of games that ended otherwise than on the board.
_ELSEWHERE = re.compile(
    "time|forfeit|connect|stall|abort|abandon|illegal|invalid|infraction|exit|terminat", re.I
)


@dataclass(frozen=True, slots=True)
class Command:
    """One command: how its arguments are parsed into a value, and what is done with it.

    trusted: it names a file; see protocols.permissions.
    """

    parse: Callable[[str], Any]
    act: Callable[[Xboard, Any], Replies | None]
    help: str
    trusted: bool = False


class Xboard(XboardPlay):
    """One engine that speaks xboard's protocol; see ChessPlay for what it is made with."""

    _hinting = False

    @cached_property
    def options(self) -> tuple[Option[ChessPlay], ...]:
        """What this session may set."""
        return tuple(option.permitted(self.permissions) for option in OPTIONS)

    def handle_line(self, line: str) -> tuple[str, ...]:
        """Act on one line. Never raises.

        What is to be said is sent, in one order with what searches say, and nothing returned.
        """
        with self.lock:
            for reply in self._replies(line):
                self._send(reply)
        return ()

    def overlong_line(self) -> Replies:
        """Say that a line was dropped."""
        yield error_line("the line is too long", "")

    def _replies(self, line: str) -> Replies:
        word, rest = (*line.split(None, 1), "", "")[:2]
        try:
            if word in COMMANDS:
                command = COMMANDS[word]
                if command.trusted and not self.permissions.trusted:
                    raise UciError(refusal(word))
                yield from command.act(self, command.parse(rest)) or ()
            elif is_command(line):
                yield from self._user_move(word)
            elif word:
                yield error_line(UNKNOWN, line)
        except UciError as error:
            yield error_line(self.permissions.hide(str(error)), line)
        except Exception as error:  # noqa: BLE001 - whatever a line does, the next is read
            yield warning(self.permissions.hide(describe(error)))

    # Beginning and ending.

    def _nothing(self, _: object) -> None:
        """Accept what changes nothing here."""

    def _introduce(self, _: object) -> Replies:
        tables = TABLES if self.permissions.trusted else ()
        yield from feature_lines(self.name, self.options, tables)
        self.engine.start()

    def _rejected(self, feature: str) -> None:
        if feature.split()[:1] == ["debug"]:
            self.commenting = False

    def _quit(self, _: None) -> None:
        self.halt()
        self.finished = True

    def _help(self, _: None) -> Replies:
        for name, command in COMMANDS.items():
            if self.permissions.trusted or not command.trusted:
                yield comment(f"{name}: {command.help}")

    # Games and positions.

    def _new(self, _: None) -> None:
        self.halt()
        if self.mode is not Mode.ANALYSING:
            self.mode = Mode.PLAYING
        self.paused = self.chess960 = False
        self.start_game()
        self.set_board(read_board(None))
        self.carry_on()

    def _variant(self, name: str) -> None:
        if name not in VARIANTS:
            raise UciError(f"unknown variant, there are {' and '.join(VARIANTS)}")
        self.halt()
        self.chess960 = name == FISCHERANDOM
        self.set_board(read_board(None, self.chess960))
        self.carry_on()

    def _set_board(self, fen: str) -> Replies:
        self.halt()
        try:
            self.set_board(read_board(fen or "-", self.chess960))
        except UciError as error:
            self.barred, self.owes = str(error), False
            yield warning(f"Illegal position: {error}")
        self.carry_on()

    def _refuse_edit(self, _: object) -> None:
        raise UciError("not understood, positions are set up by setboard")

    def _undo(self, _: None) -> None:
        self._take_back(1)

    def _remove(self, _: None) -> None:
        if self.owes:
            raise UciError(NOT_NOW)
        self._take_back(2)

    def _take_back(self, moves: int) -> None:
        if self.barred or len(self.board.move_stack) < moves:
            raise UciError(NOT_NOW)
        self.halt()
        for _ in range(moves):
            self.board.pop()
        self.owes = False
        self.forget_position()
        self.agreement.clear()
        self.carry_on()

    def _set_turn(self, white: bool) -> None:
        """Have that side on move, and play the other, as old front ends ask for."""
        self.halt()
        board = self.board
        if board.turn is not white:
            words = board.fen().split()
            words[1], words[3] = "w" if white else "b", "-"
            self.set_board(read_board(" ".join(words), self.chess960))
        self.mode, self.owes = Mode.PLAYING, False

    def _white(self, _: None) -> None:
        self._set_turn(white=True)

    def _black(self, _: None) -> None:
        self._set_turn(white=False)

    # Playing.

    def _force(self, _: object) -> None:
        self.halt()
        self._leave_analysis()
        self.mode, self.owes, self.paused = Mode.FORCE, False, False

    def _over(self, text: str) -> None:
        result, _, comment = text.partition(" ")
        self._force(None)
        self.learn_result(result, forfeit=_ELSEWHERE.search(comment) is not None)

    def _meet(self, name: str) -> None:
        self.change_opponent(lambda opponent: opponent.meet(name))

    def _go(self, _: None) -> Replies:
        self._expect_position()
        self.halt()
        self._leave_analysis()
        self.mode, self.paused = Mode.PLAYING, False
        if any(self.board.generate_legal_moves()):
            self.begin_move()
            self.carry_on()
        else:
            self.owes = False
            yield str(verdict(self.board))

    def _play_other(self, _: None) -> None:
        self._expect_position()
        self.halt()
        self._leave_analysis()
        self.mode, self.owes, self.paused = Mode.PLAYING, False, False

    def _user_move(self, text: str) -> Replies:
        if self.barred:
            yield illegal_line(text, "illegal position")
        elif self.mode is Mode.PLAYING and self.owes:
            yield illegal_line(text, "it is not your move")
        elif len(self.board.move_stack) >= LONGEST_GAME:
            yield illegal_line(text, "the game is longer than any can be")
        elif (move := find_move(self.board, text)) is None:
            yield illegal_line(text)
        elif self.mode is Mode.PLAYING:
            if over := self.move_on(move):
                yield over
        else:
            self.halt()
            self.board.push(move)
            self.forget_position()
            self.carry_on()

    def _move_now(self, _: None) -> None:
        if self.current is not None and self.current.purpose is Purpose.MOVE:
            self.player.stop()

    def _draw(self, _: None) -> Replies:
        if self.mode is Mode.PLAYING and self.owes:
            self.offered = True
        elif self.mode is Mode.PLAYING and self.accepts_draw():
            yield "offer draw"

    def _pause(self, _: None) -> None:
        self.halt()
        self.paused = True

    def _resume(self, _: None) -> None:
        self.paused = False
        self.carry_on()

    def _ping(self, number: str) -> Replies:
        yield from self.answer_ping(number)

    def _hard(self, _: None) -> None:
        self.pondering = True
        self.carry_on()

    def _easy(self, _: None) -> None:
        self.pondering = False
        if self.current is not None and self.current.purpose is Purpose.PONDER:
            self.halt()

    def _post(self, _: None) -> None:
        self.posting = True

    def _no_post(self, _: None) -> None:
        self.posting = False

    # Time.

    def _level(self, level: LevelCommand) -> None:
        self.between(lambda: self.clock.set_level(level, self.played))

    def _set_movetime(self, seconds: float) -> None:
        self.between(lambda: self.clock.set_movetime(seconds))

    def _set_depth(self, depth: int) -> None:
        self.between(lambda: setattr(self, "depth", depth))

    def _time(self, seconds: float) -> None:
        self.clock.set_left(seconds)

    def _other_time(self, seconds: float) -> None:
        self.other_left = seconds

    # Analysing.

    def _analyse(self, _: None) -> None:
        self.halt()
        if self.mode is not Mode.ANALYSING:
            self.set_analysing(True)
        self.mode, self.owes, self.paused = Mode.ANALYSING, False, False
        self.carry_on()

    def _leave_analysis(self) -> None:
        if self.mode is Mode.ANALYSING:
            self.set_analysing(False)
            self.mode = Mode.FORCE

    def _exit(self, _: None) -> None:
        if self.mode is Mode.ANALYSING:
            self.halt()
            self._leave_analysis()

    def _status(self, _: None) -> Replies:
        search = self.current
        if search is not None and search.purpose is Purpose.ANALYSIS:
            yield status_line(search.seconds(), search.last, search.progress, search.board)

    def _exclude(self, text: str) -> None:
        moves = self._named_moves(text)
        self._change_moves(lambda: self.excluded.update(moves))

    def _include(self, text: str) -> None:
        moves = self._named_moves(text)
        self._change_moves(lambda: self.excluded.difference_update(moves))

    def _named_moves(self, text: str) -> list[chess.Move]:
        self._expect_position()
        if text == "all":
            return list(self.board.legal_moves)
        move = find_move(self.board, text)
        if move is None:
            raise UciError("no such move in this position")
        return [move]

    def _change_moves(self, change: Callable[[], None]) -> None:
        """Change which moves are searched; a search of them begins anew."""
        if self.current is not None and self.current.purpose is not Purpose.PONDER:
            self.halt()
        change()
        self.carry_on()

    def _hint(self, _: None) -> Replies:
        search = self.current
        if self.guess is not None:
            yield f"Hint: {self.board.xboard(self.guess)}"
        elif search is not None and search.purpose is Purpose.ANALYSIS and search.last is not None:
            yield f"Hint: {self.board.xboard(search.last.pv[0])}"
        elif search is None and not (self.barred or self.owes or self._hinting):
            board, self._hinting = self.board.copy(), True
            self.player.do(lambda job: self._think_of_hint(job, board), lengthy=True)

    def _think_of_hint(self, job: Job, board: chess.Board) -> None:
        limits: Limits[chess.Move] = Limits(movetime=HINT_TIME)
        self.opponent.aside = True  # it is no move of the game
        try:
            move = self.player.think(job, board, limits, 1, _Unheard(self.error)).move
        finally:
            self._hinting = self.opponent.aside = False
        with self.lock:
            if move is not None and self.board == board:
                self._send(f"Hint: {board.xboard(move)}")

    def _book(self, _: None) -> None:
        self.require_room()
        board = self.board.copy()
        self.between(lambda: self.player.do(lambda job: self._tell_book(board)))

    def _tell_book(self, board: chess.Board) -> None:
        try:
            moves = self.book.moves(board)
            with self.lock:
                for move, share in moves:
                    self._send(f" {board.san(move)}  {100 * share:.0f}%")
                if not moves:
                    self._send(" No book knows this position.")
        finally:
            self._send("")

    # Options.

    def _set_option(self, said: NamedValue) -> None:
        option = find(self.options, said.name)
        self._change(option, spelled(option, said.value))

    def _memory(self, megabytes: int) -> None:
        self._set_within(HASH, megabytes)

    def _cores(self, number: int) -> None:
        self._set_within(THREADS, number)

    def _set_within(self, name: str, number: int) -> None:
        """Set an option to a number, or to the next that it takes."""
        option = find(SHARED, name).permitted(self.permissions)
        most = min(option.most, option.granted)
        self._change(option, str(min(max(number, option.least), most)))

    def _tables(self, said: NamedValue) -> None:
        if said.name not in TABLES:
            raise UciError(f"no such endgame tables, there are {' and '.join(TABLES)}")
        use = TABLES[said.name]
        self.between(lambda: self.player.do(lambda job: self._use_tables(use, said.value or "")))

    def _use_tables(self, use: Callable[[Engine, str], None], paths: str) -> None:
        """Use tables, if they are there: front ends name the places of all kinds unasked."""
        try:
            use(self.engine, paths)
        except PlayerError as error:
            self.note(str(error))

    def _change(self, option: Option[ChessPlay], value: str | None) -> None:
        self.require_room()
        taken, remark = option.take(value)
        self.between(lambda: option.change(self, taken))
        if remark:
            self.note(remark)

    def _expect_position(self) -> None:
        if self.barred:
            raise UciError("illegal position")


def is_command(line: str) -> bool:
    """Tell whether a line is one of the protocol: a command, or a move without one."""
    words = line.split(None, 1)
    if not words:
        return False
    return words[0] in COMMANDS or (len(words) == 1 and bool(BARE_MOVE.fullmatch(words[0])))


class _Unheard:
    """Listens to a search of which only the answer counts."""

    def __init__(self, error: Callable[[str], None]) -> None:
        self.error = error

    def info(self, info: Info[Any]) -> None:
        """Take a line of play."""

    def progress(self, progress: Progress[Any], seconds: float) -> None:
        """Take where it stands."""

    def result(self, result: Result[Any]) -> None:
        """Take the answer, which whoever asked has too."""


COMMANDS: dict[str, Command] = {
    "xboard": Command(parse_nothing, Xboard._nothing, "a front end begins to speak"),
    "protover": Command(parse_text, Xboard._introduce, "N: say what is understood here"),
    "accepted": Command(parse_text, Xboard._nothing, "FEATURE: the front end will keep to it"),
    "rejected": Command(parse_text, Xboard._rejected, "FEATURE: the front end does not know it"),
    "new": Command(parse_nothing, Xboard._new, "begin a game, in which I play Black"),
    "variant": Command(parse_text, Xboard._variant, "normal|fischerandom: which chess is played"),
    "quit": Command(parse_nothing, Xboard._quit, "end the program"),
    "random": Command(parse_nothing, Xboard._nothing, "accepted; BookVariety makes games differ"),
    "force": Command(parse_nothing, Xboard._force, "take note of moves, and make none"),
    "go": Command(parse_nothing, Xboard._go, "play the side that is on move"),
    "playother": Command(parse_nothing, Xboard._play_other, "play the side that is not on move"),
    "white": Command(parse_nothing, Xboard._white, "White is on move, I play Black"),
    "black": Command(parse_nothing, Xboard._black, "Black is on move, I play White"),
    "usermove": Command(parse_text, Xboard._user_move, "MOVE: of the other side"),
    "?": Command(parse_nothing, Xboard._move_now, "move now"),
    "ping": Command(parse_text, Xboard._ping, "N: answer pong N when all before is done"),
    "draw": Command(parse_nothing, Xboard._draw, "a draw is offered"),
    "result": Command(parse_text, Xboard._over, "RESULT {COMMENT}: the game is over"),
    "setboard": Command(parse_text, Xboard._set_board, "FEN: set up a position"),
    "edit": Command(parse_text, Xboard._refuse_edit, "refused, for setboard"),
    "hint": Command(parse_nothing, Xboard._hint, "suggest a move"),
    "bk": Command(parse_nothing, Xboard._book, "show what the book knows"),
    "undo": Command(parse_nothing, Xboard._undo, "take one move back"),
    "remove": Command(parse_nothing, Xboard._remove, "take two moves back"),
    "hard": Command(parse_nothing, Xboard._hard, "ponder: think on the other's time"),
    "easy": Command(parse_nothing, Xboard._easy, "do not ponder"),
    "post": Command(parse_nothing, Xboard._post, "show what I think"),
    "nopost": Command(parse_nothing, Xboard._no_post, "do not show it"),
    "analyze": Command(parse_nothing, Xboard._analyse, "analyse, move by move"),
    ".": Command(parse_nothing, Xboard._status, "tell where the analysis stands"),
    "exit": Command(parse_nothing, Xboard._exit, "end the analysis"),
    "exclude": Command(parse_text, Xboard._exclude, "MOVE|all: do not search it"),
    "include": Command(parse_text, Xboard._include, "MOVE|all: search it again"),
    "level": Command(parse_level, Xboard._level, "MOVES MINUTES[:SECONDS] INCREMENT"),
    "st": Command(parse_seconds, Xboard._set_movetime, "SECONDS: for each move"),
    "sd": Command(parse_count, Xboard._set_depth, "PLIES: search no deeper"),
    "time": Command(parse_centiseconds, Xboard._time, "N: hundredths of a second that I have"),
    "otim": Command(parse_centiseconds, Xboard._other_time, "N: those that the other side has"),
    "pause": Command(parse_nothing, Xboard._pause, "stop thinking, and the clocks"),
    "resume": Command(parse_nothing, Xboard._resume, "go on"),
    "memory": Command(parse_count, Xboard._memory, "MB: the most for the transposition table"),
    "cores": Command(parse_count, Xboard._cores, "N: how many threads search"),
    "egtpath": Command(
        parse_tables, Xboard._tables, "syzygy|gaviota PATH: endgame tables", trusted=True
    ),
    "option": Command(parse_option, Xboard._set_option, "NAME[=VALUE]"),
    "name": Command(parse_text, Xboard._meet, "NAME: of the opponent"),
    "rating": Command(parse_text, Xboard._nothing, "MINE HIS"),
    "ics": Command(parse_text, Xboard._nothing, "HOST: where the game is played"),
    "computer": Command(parse_nothing, Xboard._nothing, "the opponent is a program"),
    "help": Command(parse_nothing, Xboard._help, "list the commands"),
}
