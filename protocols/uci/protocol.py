"""The UCI protocol, without I/O. Its commands are in COMMANDS, and its options in OPTIONS.

Sources: the UCI specification of April 2006 by Rudolf Huber and Stefan Meyer-Kahlen, and the
behaviour of common front ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any

from agent.limits import Cp, Info, Limits, Progress, Result, SideClock
from protocols.permissions import permission_denied_message
from protocols.session_context import STANDALONE, SessionContext
from protocols.uci.chess_session import COMMON_OPTIONS, WHITE_POINTS, ChessSession, attribute_setter
from protocols.uci.formatting import (
    bestmove_line,
    info_line,
    info_string,
    nodes_per_second,
    progress_line,
    score_text,
    wdl,
)
from protocols.uci.options import Option, find_option, renamed_remark
from protocols.uci.parsing import (
    GoCommand,
    PositionCommand,
    SetOptionCommand,
    UciError,
    parse_depth,
    parse_go,
    parse_nothing,
    parse_position,
    parse_set_option,
    parse_switch,
    shorten,
    shorten_list,
)
from protocols.uci.position import CurrentPosition, read_move

if TYPE_CHECKING:
    import chess

    from agent.chess.engine.backend import ChessBackend
    from agent.chess.evaluation.nnue_format import NnueNetwork
    from agent.threads.serial_executor import Job

Replies = Iterator[str]

FORFEIT_SUFFIX = " forfeit"
GAME_RESULTS = "*", *WHITE_POINTS, *(result + FORFEIT_SUFFIX for result in WHITE_POINTS)


@dataclass(frozen=True, slots=True)
class Command:
    """A UCI command with its argument parser and its handler."""

    parse: Callable[[str], Any]
    handler: Callable[[UciProtocol, Any], Replies]
    help: str
    requires_trust: bool = False  # see `protocols.permissions`


class UciProtocol(ChessSession):
    """A UCI engine. The arguments are those of `ChessSession`."""

    def __init__(
        self,
        name: str,
        author: str,
        send: Callable[[str], None],
        log_to: Callable[[str], None],
        make_engine: Callable[[Callable[[str], None]], ChessBackend] | None = None,
        extra_options: tuple[Option[UciProtocol], ...] = (),
        session_context: SessionContext = STANDALONE,
    ) -> None:
        super().__init__(name, author, send, log_to, make_engine, session_context)
        self.options = tuple(
            option.for_permissions(self.permissions) for option in OPTIONS + extra_options
        )
        self.chess960 = False
        self.show_wdl = False
        self._debug = False
        self._introduced = False
        self._position = CurrentPosition()

    def handle_line(self, line: str) -> Replies:
        """Handle one line and yield the replies. This method never raises an exception."""
        try:
            name, rest = _split_command(line)
            if name:
                self._introduced = True
                command = COMMANDS[name]
                if command.requires_trust and not self.permissions.trusted:
                    raise UciError(permission_denied_message(name))
                yield from command.handler(self, command.parse(rest))
            elif self._introduced and line.strip():
                yield info_string(f"unknown command: {shorten(line)}")
        except UciError as error:
            yield self._info_string(str(error))
        except Exception as error:  # noqa: BLE001 - the session must continue
            from agent.agent import describe

            yield self._info_string(describe(error))

    def handle_overlong_line(self) -> Replies:
        yield info_string("line too long; ignored")

    # Callbacks of the agent.

    def info(self, info: Info[chess.Move]) -> None:
        self._send(info_line(info, self.show_wdl))

    def progress(self, progress: Progress[chess.Move], seconds: float) -> None:
        self._send(progress_line(progress, seconds))

    def error(self, message: str) -> None:
        self._send(self._info_string(message))

    def report(self, message: str) -> None:
        self._send(self._info_string(message))

    def _info_string(self, message: str) -> str:
        return info_string(self.permissions.redact(message))

    def result(self, result: Result[chess.Move]) -> None:
        self._send(bestmove_line(result))
        self.learning.flush()
        self.opponent.record_move(result)

    # Command handlers, in the order of COMMANDS.

    def _uci(self, _: None) -> Replies:
        yield f"id name {self.name}"
        yield f"id author {self.author}"
        for option in self.options:
            if not option.forbidden:
                yield option.declaration_line()
        yield "uciok"
        self.engine.start()

    def _is_ready(self, _: None) -> Replies:
        if self.agent.busy:
            yield "readyok"
        else:
            self.agent.submit(self._send_readyok)

    def _send_readyok(self, job: Job) -> None:
        try:
            self.prepare(job)
        finally:
            self._send("readyok")

    def _set_option(self, command: SetOptionCommand) -> Replies:
        option = find_option(self.options, command.name)
        if renamed := renamed_remark(option, command.name):
            yield info_string(renamed)
        self.require_queue_space()
        value, remark = option.parse_permitted(command.value)
        option.on_change(self, value)
        if remark:
            yield info_string(remark)

    def _new_game(self, _: None) -> Replies:
        self.new_game()
        yield from ()

    def _set_position(self, position: PositionCommand) -> Replies:
        self._position.set(position, self.chess960)
        yield from ()

    def _go(self, go: GoCommand) -> Replies:
        board = self._position.copy_with_history()
        problems = list(go.problems)
        if "perft" in go.numbers:
            if not self.permissions.trusted:
                raise UciError(permission_denied_message("go perft"))
            yield from map(info_string, problems)
            depth = max(go.numbers["perft"], 1)
            self.agent.submit(lambda job: self._perft(job, board, depth), long_running=True)
            return
        clock = go.numbers.get("btime" if board.turn else "wtime")
        self.set_opponent_clock(None if clock is None else clock / 1e3)
        limits = _limits(go, board, problems)
        yield from map(info_string, shorten_list(problems))
        if self._debug:
            from agent.clock import allocate_time

            reserve = self.agent.lag_estimator.reserve(limits.clock)
            budget = allocate_time(limits, self.agent.overhead, reserve, self.agent.time_factor)
            yield info_string(f"time budget: {budget.soft:.3f} s, at most {budget.hard:.3f} s")
        if self.queue_is_full:
            # Every `go` needs a `bestmove`, so it waits for space instead of being dropped.
            self.agent.stop()
            self.agent.wait()
        self.agent.go(board, limits, self.multipv)

    def _stop(self, _: None) -> Replies:
        self.agent.stop()
        yield from ()

    def _ponder_hit(self, _: None) -> Replies:
        self.agent.ponderhit()
        yield from ()

    def _quit(self, _: None) -> Replies:
        self.finished = True
        yield from ()

    def _set_debug(self, on: bool) -> Replies:
        self._debug = on
        yield from ()

    def _register(self, _: None) -> Replies:
        yield from ()

    def _display(self, _: None) -> Replies:
        from chess.polyglot import zobrist_hash

        board = self._position.board
        yield from str(board).splitlines()
        yield f"Fen: {board.fen()}"
        yield f"Key: {zobrist_hash(board):016X}"
        yield "Checkers: " + " ".join(_square_names(board.checkers()))
        yield "Moves: " + " ".join(move.uci() for move in board.legal_moves)

    def _evaluate(self, _: None) -> Replies:
        self.require_queue_space()
        board = self._position.copy_with_history()
        self.agent.submit(lambda job: self._send_evaluation(job, board), long_running=True)
        yield from ()

    def _send_evaluation(self, job: Job, board: chess.Board) -> None:
        kernel = self.engine.wait_for_kernel(job.stop)
        value = self.agent.run_user_code(job, lambda: kernel.evaluate(board))
        if kernel.network is not None:
            self._send_network(kernel.network, board, value)
        if not any(board.legal_moves):
            reason = "checkmate" if board.is_check() else "stalemate"
            self._send(info_string(f"evaluation none ({reason})"))
            return
        if kernel.network is not None:
            wins, draws, losses = wdl(Cp(value if board.turn else -value))
            self._send(info_string(f"wdl {wins} {draws} {losses} (white's view, permille)"))
        self._send(
            info_string(f"evaluation {(value if board.turn else -value) / 100:+.2f} (white's view)")
        )

    def _send_network(self, network: NnueNetwork, board: chess.Board, value: int) -> None:
        from agent.chess.evaluation.nnue_breakdown import format_breakdown
        from agent.chess.evaluation.nnue_reference import evaluate

        for line in format_breakdown(network, board):
            self._send(line)
        if value != evaluate(network, board):
            self._send(info_string("endgame knowledge changes the network's score"))

    def _bench(self, depth: int | None) -> Replies:
        self.agent.submit(lambda job: self._run_bench(job, depth), long_running=True)
        yield from ()

    def _run_bench(self, job: Job, depth: int | None) -> None:
        self.engine.wait_for_kernel(job.stop)
        from agent.chess.search.bench import DEPTH, run

        nodes, seconds = 0, 0.0
        for index, info in enumerate(run(depth or DEPTH, job.stop), 1):
            nodes, seconds = nodes + info.nodes, seconds + info.time
            self._send(
                info_string(f"position {index}: {score_text(info.score)}, {info.nodes} nodes")
            )
        self._send(f"{nodes} nodes {nodes_per_second(nodes, seconds)} nps")

    def _perft(self, job: Job, board: chess.Board, depth: int) -> None:
        self.engine.wait_for_kernel(job.stop)
        from agent.agent import AgentError
        from agent.chess.board.perft import divide

        stop = Event()
        job.stop.add_callback(stop.set)
        total = 0
        for move, leaves in divide(board, depth, stop):
            if stop.is_set():
                raise AgentError("perft: stopped")
            total += leaves
            self._send(f"{move.uci()}: {leaves}")
        self._send("")
        self._send(f"Nodes searched: {total}")

    def _flip(self, _: None) -> Replies:
        self._position.flip()
        yield from ()

    def _help(self, _: None) -> Replies:
        for name, command in COMMANDS.items():
            if self.permissions.trusted or not command.requires_trust:
                yield info_string(f"{name}: {command.help}")

    def set_game_result(self, text: str) -> None:
        """Learn from the result of the game, which must be one of GAME_RESULTS."""
        self.learn_result(text.removesuffix(FORFEIT_SUFFIX), forfeit=text.endswith(FORFEIT_SUFFIX))

    def set_opponent(self, opponent: str) -> None:
        """Set the opponent from `TITLE ELO computer|human NAME`, or clear it for an empty text."""
        words = opponent.split(maxsplit=3)
        if opponent and (len(words) < 4 or words[2] not in ("computer", "human")):
            raise UciError("UCI_Opponent: invalid value (expected TITLE ELO computer|human NAME)")
        name = words[3] if opponent else ""
        self.change_opponent(lambda opponent: opponent.set_opponent(name))
        if opponent:
            title = "" if words[0] == "none" else f"{words[0]} "
            elo = "" if words[1] == "none" else f" ({words[1]})"
            self._send(info_string(f"opponent: {title}{name}{elo}"))


def _split_command(line: str) -> tuple[str, str]:
    """Return the first known command in a line and its arguments, or two empty strings."""
    # UCI requires engines to skip unknown words before a command.
    for word in re.finditer(r"\S+", line):
        if word[0].lower() in COMMANDS:
            return word[0].lower(), line[word.end() :].strip()
    return "", ""


def _limits(go: GoCommand, board: chess.Board, problems: list[str]) -> Limits[chess.Move]:
    """Convert `go` to search limits, and append messages about illegal moves to `problems`."""
    numbers = go.numbers
    own, other = ("w", "b") if board.turn else ("b", "w")
    clock = None
    remaining_ms = numbers.get(f"{own}time", numbers.get(f"{other}time"))
    if remaining_ms is not None:
        clock = SideClock(remaining_ms / 1e3, numbers.get(f"{own}inc", 0) / 1e3)
    search_moves = []
    for text in go.search_moves:
        try:
            search_moves.append(read_move(board, text))
        except UciError as error:
            problems.append(str(error))
    return Limits(
        depth=_at_least_one(numbers.get("depth")),
        nodes=_at_least_one(numbers.get("nodes")),
        mate=_at_least_one(numbers.get("mate")),
        movetime=numbers["movetime"] / 1e3 if "movetime" in numbers else None,
        clock=clock,
        moves_to_go=numbers.get("movestogo") or None,
        infinite=go.infinite,
        ponder=go.ponder,
        search_moves=tuple(dict.fromkeys(search_moves)),
    )


def _at_least_one(number: int | None) -> int | None:
    return None if number is None else max(number, 1)


def _square_names(squares: chess.SquareSet) -> list[str]:
    import chess

    return [chess.square_name(square) for square in squares]


def _ignore(uci: UciProtocol, value: object) -> None:
    """Accept an option that has no effect."""


OPTIONS: tuple[Option[UciProtocol], ...] = (
    *COMMON_OPTIONS,
    # Has no effect, because `go ponder` works regardless of this option.
    Option("Ponder", "check", _ignore, default=False),
    Option("UCI_Chess960", "check", attribute_setter("chess960"), default=False),
    Option("UCI_AnalyseMode", "check", ChessSession.set_analysing, default=False),
    Option("UCI_ShowWDL", "check", attribute_setter("show_wdl"), default=False),
    Option("UCI_Opponent", "string", UciProtocol.set_opponent),
    # Not part of UCI. By default, the opponent model infers the result from the last position.
    Option(
        "GameResult",
        "combo",
        UciProtocol.set_game_result,
        default=GAME_RESULTS[0],
        choices=GAME_RESULTS,
        old_name="Game Result",
    ),
    # Shown by the front end. Setting it has no effect.
    Option(
        "UCI_EngineAbout",
        "string",
        _ignore,
        default="Kempelen, a game-playing agent server in Python, GPL-3.0-or-later. Its network "
        "was trained on self-play positions scored by Kempelen and by Stockfish 15.1; the "
        "hand-written evaluation was fitted to the same scores",
    ),
)

COMMANDS: dict[str, Command] = {
    "uci": Command(parse_nothing, UciProtocol._uci, "print the engine's name and options"),
    "isready": Command(parse_nothing, UciProtocol._is_ready, "answer readyok when ready"),
    "setoption": Command(parse_set_option, UciProtocol._set_option, "name NAME [value VALUE]"),
    "ucinewgame": Command(parse_nothing, UciProtocol._new_game, "start a new game"),
    "position": Command(
        parse_position, UciProtocol._set_position, "startpos|fen FEN [moves MOVE ...]"
    ),
    "go": Command(
        parse_go,
        UciProtocol._go,
        "[wtime T btime T winc T binc T movestogo N] [movetime T] [depth N] [nodes N] [mate N] "
        "[infinite] [ponder] [searchmoves MOVE ...] [perft N]; times in milliseconds",
    ),
    "stop": Command(parse_nothing, UciProtocol._stop, "stop the search and print bestmove"),
    "ponderhit": Command(parse_nothing, UciProtocol._ponder_hit, "the expected move was played"),
    "quit": Command(parse_nothing, UciProtocol._quit, "exit"),
    "debug": Command(parse_switch, UciProtocol._set_debug, "on|off: print debug information"),
    "register": Command(
        parse_nothing, UciProtocol._register, "accepted; no registration is needed"
    ),
    "d": Command(parse_nothing, UciProtocol._display, "show the position"),
    "eval": Command(parse_nothing, UciProtocol._evaluate, "show the evaluation of the position"),
    "bench": Command(
        parse_depth,
        UciProtocol._bench,
        "[DEPTH]: search a fixed set of positions",
        requires_trust=True,
    ),
    "flip": Command(parse_nothing, UciProtocol._flip, "swap the colours of the position"),
    "help": Command(parse_nothing, UciProtocol._help, "list the commands"),
}
