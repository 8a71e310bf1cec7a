"""The xboard protocol (CECP), without I/O. Its commands are in the table COMMANDS.

Source: 'Chess Engine Communication Protocol', version 2, by Tim Mann and H.G. Muller.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.agent import AgentError, describe
from agent.game_clock import TimeSystem
from agent.games.variants import STANDARD, find_variant
from agent.limits import Info, Limits, Progress, Result
from protocols.current_line import charge_search
from protocols.permissions import permission_denied_message
from protocols.uci.engine_options import COMMON_OPTIONS
from protocols.uci.options import Option, find_option, renamed_remark
from protocols.uci.parsing import UciError, parse_nothing
from protocols.uci.position import MAX_GAME_PLIES
from protocols.xboard.draws import is_claimable_draw, result_by_rule
from protocols.xboard.features import (
    DONE,
    FISCHERANDOM,
    HASH,
    TABLEBASES,
    THREADS,
    VARIANT_NAMES,
    feature_lines,
    to_uci_value,
)
from protocols.xboard.formatting import (
    comment,
    echo,
    error_line,
    illegal_line,
    stat01_line,
    warning,
)
from protocols.xboard.parsing import (
    BARE_MOVE,
    NamedValue,
    find_move,
    parse_centiseconds,
    parse_count,
    parse_egtpath,
    parse_holdings,
    parse_level,
    parse_option,
    parse_seconds,
    parse_text,
)
from protocols.xboard.session import Replies, SearchPurpose, XboardMode, XboardSession

if TYPE_CHECKING:
    import chess

    from agent.chess.engine.backend import ChessBackend
    from agent.threads.serial_executor import Job

UNKNOWN_COMMAND = "unknown command"
NOT_NOW = "command not legal now"
HINT_TIME = 1.0  # seconds to search for a hint
# Comments that front ends add to results of games that were not decided on the board.
_FORFEIT_COMMENT = re.compile(
    "time|forfeit|connect|stall|abort|abandon|illegal|invalid|infraction|exit|terminat", re.I
)


@dataclass(frozen=True, slots=True)
class Command:
    """An xboard command with its argument parser and its handler."""

    parse: Callable[[str], Any]
    handler: Callable[[XboardProtocol, Any], Replies | None]
    help: str
    requires_trust: bool = False  # see `protocols.permissions`


class XboardProtocol(XboardSession):
    """An xboard engine. The arguments are those of `XboardSession`."""

    def handle_line(self, line: str) -> tuple[str, ...]:
        """Handle a line. The replies are sent, not returned, to keep the output in order."""
        with self.lock:
            for reply in self._replies(line):
                self._send(reply)
        return ()

    def handle_overlong_line(self) -> Replies:
        yield error_line("line too long", "")

    def _replies(self, line: str) -> Replies:
        word, rest = (*line.split(None, 1), "", "")[:2]
        try:
            if word in COMMANDS:
                command = COMMANDS[word]
                if command.requires_trust and not self.permissions.trusted:
                    raise UciError(permission_denied_message(word))
                yield from command.handler(self, command.parse(rest)) or ()
            elif is_command(line):
                yield from self._user_move(word)
            elif word:
                yield error_line(UNKNOWN_COMMAND, line)
        except UciError as error:
            yield error_line(self.permissions.redact(str(error)), line)
        except Exception as error:  # noqa: BLE001 - the session must continue
            yield warning(self.permissions.redact(f"{describe(error)}: {echo(line)}"))

    # Start and end of a session.

    def _ignore(self, _: object) -> None:
        """Accept a command that has no effect."""

    def _protover(self, _: object) -> Replies:
        tables = TABLEBASES if self.permissions.trusted else ()
        yield from feature_lines(self.name, self.chess.options, tables)
        self.chess.engine.start()
        if self.chess.agent.busy:
            yield DONE
        else:
            self.chess.agent.submit(self._send_done)

    def _send_done(self, job: Job) -> None:
        try:
            self.chess.prepare(job, unless_compiling=True)
        finally:
            self._send(DONE)

    def _rejected(self, feature: str) -> None:
        if feature.split()[:1] == ["debug"]:
            self.sends_comments = False

    def _quit(self, _: None) -> None:
        self.halt()
        self.finished = True

    def _help(self, _: None) -> Replies:
        for name, command in COMMANDS.items():
            if self.permissions.trusted or not command.requires_trust:
                yield comment(f"{name}: {command.help}")

    # Games and positions.

    def _new(self, _: None) -> None:
        self.chess.engine.start()  # front ends of version 1 do not wait for it
        self.halt()
        if self.mode is not XboardMode.ANALYSING:
            self.mode = XboardMode.PLAYING
        self.paused = self.chess.chess960 = False
        self.chess.change_variant(STANDARD)
        self.start_game()
        self.set_board(self.read_board(None))
        self.start_next_search()

    def _variant(self, name: str) -> None:
        variant = STANDARD if name == FISCHERANDOM else find_variant(name)
        if variant is None:
            raise UciError(f"unknown variant, expected one of: {', '.join(VARIANT_NAMES)}")
        self.halt()
        self.chess.chess960 = name == FISCHERANDOM
        self.chess.change_variant(variant)
        self.set_board(self.read_board(None))
        self.start_next_search()

    def _set_board(self, fen: str) -> Replies:
        self.halt()
        try:
            self.set_board(self.read_board(fen or "-"))
        except UciError as error:
            self.position_error, self.move_due = str(error), False
            yield warning(f"Illegal position: {str(error).removeprefix('illegal position: ')}")
        self.start_next_search()

    def _set_holdings(self, holdings: tuple[str, str]) -> Replies:
        """Set the pockets of a new position. During a game they follow from the moves."""
        if self.chess.variant != "crazyhouse":
            raise UciError("no holdings in this variant")
        if not (self.position_error or self.board.move_stack):
            placement, rest = self.board.fen().split(" ", 1)
            pockets = f"[{''.join(holdings)}]"
            yield from self._set_board(f"{placement.partition('[')[0]}{pockets} {rest}")

    def _refuse_edit(self, _: object) -> None:
        raise UciError("not supported, use setboard")

    def _undo(self, _: None) -> None:
        self._take_back(1)

    def _remove(self, _: None) -> None:
        if self.move_due:
            raise UciError(NOT_NOW)
        self._take_back(2)

    def _take_back(self, moves: int) -> None:
        if self.position_error or len(self.board.move_stack) < moves:
            raise UciError(NOT_NOW)
        self.halt()
        for _ in range(moves):
            self.board.pop()
        self.move_due = False
        self.clear_position_state()
        self.draw_policy.clear()
        self.start_next_search()

    def _set_turn(self, white: bool) -> None:
        self.halt()
        board = self.board
        if board.turn is not white:
            words = board.fen().split()
            words[1], words[3] = "w" if white else "b", "-"
            self.set_board(self.read_board(" ".join(words)))
        self.mode, self.move_due = XboardMode.PLAYING, False

    def _white(self, _: None) -> None:
        self._set_turn(white=True)

    def _black(self, _: None) -> None:
        self._set_turn(white=False)

    # Playing.

    def _force(self, _: object) -> None:
        self.halt()
        self._leave_analysis()
        self.mode, self.move_due, self.paused = XboardMode.FORCE, False, False

    def _result(self, text: str) -> None:
        result, _, comment = text.partition(" ")
        self._force(None)
        self.chess.learn_result(result, forfeit=_FORFEIT_COMMENT.search(comment) is not None)

    def _set_opponent_name(self, name: str) -> None:
        self.chess.change_opponent(lambda opponent: opponent.set_opponent(name))

    def _go(self, _: None) -> Replies:
        self._require_legal_position()
        self.halt()
        self._leave_analysis()
        self.mode, self.paused = XboardMode.PLAYING, False
        if result := result_by_rule(self.board):
            self.move_due = False
            yield result
        else:
            self.set_move_due()
            self.start_next_search()

    def _play_other(self, _: None) -> Replies:
        self._require_legal_position()
        self.halt()
        self._leave_analysis()
        self.mode, self.move_due, self.paused = XboardMode.PLAYING, False, False
        result = result_by_rule(self.board)
        if result and not is_claimable_draw(result):  # the opponent may claim
            yield result

    def _user_move(self, text: str) -> Replies:
        if self.position_error:
            yield illegal_line(text, "illegal position")
        elif self.mode is XboardMode.PLAYING and self.move_due:
            yield illegal_line(text, "not your turn")
        elif len(self.board.move_stack) >= MAX_GAME_PLIES:
            yield illegal_line(text, f"the game has the maximum of {MAX_GAME_PLIES} half-moves")
        elif (move := find_move(self.board, text)) is None:
            yield illegal_line(text)
        elif self.mode is XboardMode.PLAYING:
            if result := self.play_opponent_move(move):
                yield result
        else:
            self.halt()
            self.board.push(move)
            self.clear_position_state()
            self.start_next_search()

    def _move_now(self, _: None) -> None:
        if self.current_search is not None and self.current_search.purpose is SearchPurpose.MOVE:
            self.chess.agent.stop()

    def _draw(self, _: None) -> Replies:
        if self.mode is XboardMode.PLAYING and self.move_due:
            self.draw_offered = True
        elif self.mode is XboardMode.PLAYING and self.accepts_draw():
            yield "offer draw"

    def _pause(self, _: None) -> None:
        self.halt()
        self.paused = True

    def _resume(self, _: None) -> None:
        self.paused = False
        self.start_next_search()

    def _ping(self, number: str) -> Replies:
        yield from self.answer_ping(number)

    def _hard(self, _: None) -> None:
        self.pondering = True
        self.start_next_search()

    def _easy(self, _: None) -> None:
        self.pondering = False
        if self.current_search is not None and self.current_search.purpose is SearchPurpose.PONDER:
            self.halt()

    def _post(self, _: None) -> None:
        self.posting = True

    def _no_post(self, _: None) -> None:
        self.posting = False

    # Time.

    def _level(self, level: TimeSystem) -> None:
        self.reconfigure_search(lambda: self.set_time_system(level))

    def _set_movetime(self, seconds: float) -> None:
        level = TimeSystem(max_move_time=seconds)
        self.reconfigure_search(lambda: self.set_time_system(level))

    def _set_depth(self, depth: int) -> None:
        self.reconfigure_search(lambda: setattr(self, "depth", depth))

    def _time(self, seconds: float) -> None:
        self.clock.set_remaining(seconds)
        self.is_timed = True

    def _other_time(self, seconds: float) -> None:
        self.opponent_remaining = seconds

    # Analysis.

    def _analyse(self, _: None) -> None:
        self.halt()
        if self.mode is not XboardMode.ANALYSING:
            self.chess.set_analysing(True)
        self.mode, self.move_due, self.paused = XboardMode.ANALYSING, False, False
        self.start_next_search()

    def _leave_analysis(self) -> None:
        if self.mode is XboardMode.ANALYSING:
            self.chess.set_analysing(False)
            self.mode = XboardMode.FORCE

    def _exit(self, _: None) -> None:
        if self.mode is XboardMode.ANALYSING:
            self.halt()
            self._leave_analysis()

    def _status(self, _: None) -> Replies:
        search = self.current_search
        if search is not None and search.purpose is SearchPurpose.ANALYSIS:
            yield stat01_line(search.elapsed(), search.last_info, search.progress, search.board)

    def _exclude(self, text: str) -> None:
        moves = self._named_moves(text)
        self._change_search_moves(lambda: self.excluded.update(moves))

    def _include(self, text: str) -> None:
        moves = self._named_moves(text)
        self._change_search_moves(lambda: self.excluded.difference_update(moves))

    def _named_moves(self, text: str) -> list[chess.Move]:
        self._require_legal_position()
        if text == "all":
            return list(self.board.legal_moves)
        move = find_move(self.board, text)
        if move is None:
            raise UciError("illegal move in this position")
        return [move]

    def _change_search_moves(self, change: Callable[[], None]) -> None:
        if (
            self.current_search is not None
            and self.current_search.purpose is not SearchPurpose.PONDER
        ):
            self.halt()
        change()
        self.start_next_search()

    def _hint(self, _: None) -> Replies:
        search = self.current_search
        if self.ponder_move is not None:
            yield f"Hint: {self.board.xboard(self.ponder_move)}"
        elif (
            search is not None
            and search.purpose is SearchPurpose.ANALYSIS
            and search.last_info is not None
        ):
            yield f"Hint: {self.board.xboard(search.last_info.pv[0])}"
        elif search is None and not (self.position_error or self.move_due or self._hinting):
            board, self._hinting = self.board.copy(), True
            charge_search()
            self.chess.agent.submit(lambda job: self._search_hint(job, board), long_running=True)

    def _search_hint(self, job: Job, board: chess.Board) -> None:
        limits: Limits[chess.Move] = Limits(movetime=HINT_TIME)
        self.chess.opponent.off_the_record = True  # The hint is not played on the game's board.
        try:
            listener = _NullListener(self.error)
            move = self.chess.agent.prepare_search(board, limits, 1, listener).run(job).move
        finally:
            self._hinting = self.chess.opponent.off_the_record = False
        with self.lock:
            if move is not None and self.board == board:
                self._send(f"Hint: {board.xboard(move)}")

    def _book(self, _: None) -> None:
        self.chess.require_queue_space("bk")
        board = self.board.copy()
        self.reconfigure_search(lambda: self.chess.agent.submit(lambda job: self._send_book(board)))

    def _send_book(self, board: chess.Board) -> None:
        try:
            moves = self.chess.book.move_probabilities(board)
            with self.lock:
                for move, share in moves:
                    self._send(f" {board.san(move)}  {100 * share:.0f}%")
                if not moves:
                    self._send(" No book moves for this position.")
        finally:
            self._send("")

    # Options.

    def _set_option(self, argument: NamedValue) -> None:
        option = find_option(self.chess.options, argument.name)
        if renamed := renamed_remark(argument.name):
            self.report(renamed)
        self._change_option(option, to_uci_value(option, argument.value))

    def _memory(self, megabytes: int) -> None:
        self._set_clamped(HASH, megabytes)

    def _cores(self, count: int) -> None:
        self._set_clamped(THREADS, count)

    def _set_clamped(self, name: str, value: int) -> None:
        option = find_option(COMMON_OPTIONS, name).for_permissions(self.permissions)
        maximum = min(option.max, option.session_max)
        allowed = min(max(value, option.min), maximum)
        self._change_option(option, str(allowed))
        if allowed != value:
            self.report(f"{name}: using {allowed} instead of {value}")

    def _egtpath(self, argument: NamedValue) -> None:
        if argument.name not in TABLEBASES:
            raise UciError(f"unknown tablebase format, expected one of: {', '.join(TABLEBASES)}")

        def use_tablebase(engine: ChessBackend) -> None:
            try:
                TABLEBASES[argument.name](engine, argument.value or "")
            except AgentError as error:  # not shown to the user, because front ends send all paths
                self.report(str(error))

        self.reconfigure_search(lambda: self.chess.change_engine(use_tablebase))

    def _change_option(self, option: Option, value: str | None) -> None:
        self.chess.require_queue_space(f"option {option.name}")
        parsed, remark = option.parse_permitted(value)
        self.reconfigure_search(lambda: option.on_change(self.chess, parsed))
        if remark:
            self.report(remark)

    def _require_legal_position(self) -> None:
        if self.position_error:
            raise UciError("illegal position")


def is_command(line: str) -> bool:
    """Return whether a line is an xboard command or a move without a command."""
    words = line.split(None, 1)
    if not words:
        return False
    return words[0] in COMMANDS or (len(words) == 1 and bool(BARE_MOVE.fullmatch(words[0])))


class _NullListener:
    """Ignores all output from a search except errors."""

    def __init__(self, error: Callable[[str], None]) -> None:
        self.error = error

    def info(self, info: Info[Any]) -> None:
        """Ignore a principal variation."""

    def progress(self, progress: Progress[Any], seconds: float) -> None:
        """Ignore the progress."""

    def result(self, result: Result[Any]) -> None:
        """Ignore the result, which `run` also returns."""


COMMANDS: dict[str, Command] = {
    "xboard": Command(parse_nothing, XboardProtocol._ignore, "start the protocol"),
    "protover": Command(parse_text, XboardProtocol._protover, "N: print features and options"),
    "accepted": Command(parse_text, XboardProtocol._ignore, "FEATURE: a feature is accepted"),
    "rejected": Command(parse_text, XboardProtocol._rejected, "FEATURE: a feature is rejected"),
    "new": Command(parse_nothing, XboardProtocol._new, "start a game; the engine plays Black"),
    "variant": Command(
        parse_text, XboardProtocol._variant, f"{'|'.join(VARIANT_NAMES)}: set the variant"
    ),
    "quit": Command(parse_nothing, XboardProtocol._quit, "exit"),
    "random": Command(
        parse_nothing, XboardProtocol._ignore, "accepted; use BookVariety to vary games"
    ),
    "force": Command(parse_nothing, XboardProtocol._force, "record moves without playing"),
    "go": Command(parse_nothing, XboardProtocol._go, "play the side to move"),
    "playother": Command(
        parse_nothing, XboardProtocol._play_other, "play the side that is not to move"
    ),
    "white": Command(parse_nothing, XboardProtocol._white, "set White to move, and play Black"),
    "black": Command(parse_nothing, XboardProtocol._black, "set Black to move, and play White"),
    "usermove": Command(parse_text, XboardProtocol._user_move, "MOVE: a move of the opponent"),
    "?": Command(parse_nothing, XboardProtocol._move_now, "move now"),
    "ping": Command(parse_text, XboardProtocol._ping, "N: answer pong N after pending commands"),
    "draw": Command(parse_nothing, XboardProtocol._draw, "the opponent offers a draw"),
    "result": Command(parse_text, XboardProtocol._result, "RESULT {COMMENT}: the game is over"),
    "setboard": Command(parse_text, XboardProtocol._set_board, "FEN: set up a position"),
    "holding": Command(
        parse_holdings,
        XboardProtocol._set_holdings,
        "[WHITE] [BLACK]: set the pockets of a position of crazyhouse",
    ),
    "edit": Command(parse_text, XboardProtocol._refuse_edit, "not supported; use setboard"),
    "hint": Command(parse_nothing, XboardProtocol._hint, "suggest a move"),
    "bk": Command(parse_nothing, XboardProtocol._book, "show the book moves"),
    "undo": Command(parse_nothing, XboardProtocol._undo, "take one move back"),
    "remove": Command(parse_nothing, XboardProtocol._remove, "take two moves back"),
    "hard": Command(parse_nothing, XboardProtocol._hard, "ponder on the opponent's time"),
    "easy": Command(parse_nothing, XboardProtocol._easy, "do not ponder"),
    "post": Command(parse_nothing, XboardProtocol._post, "show the thinking output"),
    "nopost": Command(parse_nothing, XboardProtocol._no_post, "hide the thinking output"),
    "analyze": Command(parse_nothing, XboardProtocol._analyse, "analyse the position"),
    ".": Command(parse_nothing, XboardProtocol._status, "show the progress of the analysis"),
    "exit": Command(parse_nothing, XboardProtocol._exit, "end the analysis"),
    "exclude": Command(parse_text, XboardProtocol._exclude, "MOVE|all: exclude from the search"),
    "include": Command(parse_text, XboardProtocol._include, "MOVE|all: include in the search"),
    "level": Command(parse_level, XboardProtocol._level, "MOVES MINUTES[:SECONDS] INCREMENT"),
    "st": Command(parse_seconds, XboardProtocol._set_movetime, "SECONDS: set the time per move"),
    "sd": Command(parse_count, XboardProtocol._set_depth, "PLIES: limit the depth"),
    "time": Command(
        parse_centiseconds, XboardProtocol._time, "N: the engine's time left, in centiseconds"
    ),
    "otim": Command(
        parse_centiseconds,
        XboardProtocol._other_time,
        "N: the opponent's time left, in centiseconds",
    ),
    "pause": Command(parse_nothing, XboardProtocol._pause, "stop thinking and stop the clocks"),
    "resume": Command(parse_nothing, XboardProtocol._resume, "continue after pause"),
    "memory": Command(
        parse_count, XboardProtocol._memory, "MB: set the size of the transposition table"
    ),
    "cores": Command(parse_count, XboardProtocol._cores, "N: set the number of threads"),
    "egtpath": Command(
        parse_egtpath,
        XboardProtocol._egtpath,
        "syzygy|gaviota PATH: set the path of a tablebase",
        requires_trust=True,
    ),
    "option": Command(parse_option, XboardProtocol._set_option, "NAME[=VALUE]: set an option"),
    "name": Command(parse_text, XboardProtocol._set_opponent_name, "NAME: set the opponent"),
    "rating": Command(parse_text, XboardProtocol._ignore, "ENGINE OPPONENT: accepted"),
    "ics": Command(parse_text, XboardProtocol._ignore, "HOST: accepted"),
    "computer": Command(parse_nothing, XboardProtocol._ignore, "the opponent is a program"),
    "help": Command(parse_nothing, XboardProtocol._help, "list the commands"),
}
