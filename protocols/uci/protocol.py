"""The UCI protocol, without input and output: lines in, lines out, a player in between.

Begin reading at COMMANDS and OPTIONS, at the end: the two tables serve dispatch and listing.
Source: the text of April 2006 by Rudolf Huber and Stefan Meyer-Kahlen, and what programs do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any

from agent.limits import Cp, Info, Limits, Progress, Result, SideClock
from protocols.allowance import ALONE, Allowance
from protocols.permissions import refusal
from protocols.uci.options import Option, find
from protocols.uci.play import POINTS, SHARED, ChessPlay, setter
from protocols.uci.position import CurrentPosition, read_move
from protocols.uci.text import info_line, progress_line, result_line, say, score_text, speed, wdl
from protocols.uci.values import (
    GoCommand,
    PositionCommand,
    SetOption,
    UciError,
    brief,
    parse_depth,
    parse_go,
    parse_nothing,
    parse_position,
    parse_set_option,
    parse_switch,
    shorten,
)

if TYPE_CHECKING:
    import chess

    from agent.chess.engine import Engine
    from agent.chess.network_format import Network
    from agent.threads.task_thread import Job

Replies = Iterator[str]

FORFEIT = " forfeit"
RESULTS = "*", *POINTS, *(result + FORFEIT for result in POINTS)


@dataclass(frozen=True, slots=True)
class Command:
    """One command: how its arguments are parsed into a value, and what is done with it.

    trusted: it burdens the machine; see protocols.permissions.
    """

    parse: Callable[[str], Any]
    act: Callable[[Uci, Any], Replies]
    help: str
    trusted: bool = False


class Uci(ChessPlay):
    """One UCI engine; see ChessPlay for what it is made with."""

    def __init__(
        self,
        name: str,
        author: str,
        send: Callable[[str], None],
        log_to: Callable[[str], None],
        make_engine: Callable[[Callable[[str], None]], Engine] | None = None,
        more_options: tuple[Option[Uci], ...] = (),
        allowance: Allowance = ALONE,
    ) -> None:
        super().__init__(name, author, send, log_to, make_engine, allowance)
        self.options = tuple(
            option.permitted(self.permissions) for option in OPTIONS + more_options
        )
        self.chess960 = False
        self.show_wdl = False
        self._debug = False
        self._introduced = False
        self._position = CurrentPosition()

    def handle_line(self, line: str) -> Replies:
        """Act on one line; the replies must be consumed. Never raises."""
        try:
            name, rest = _split(line)
            if name:
                self._introduced = True
                command = COMMANDS[name]
                if command.trusted and not self.permissions.trusted:
                    raise UciError(refusal(name))
                yield from command.act(self, command.parse(rest))
            elif self._introduced and line.strip():
                yield say(f"unknown command: {shorten(line)}")
        except UciError as error:
            yield self._say(str(error))
        except Exception as error:  # noqa: BLE001 - whatever a line does, the next is read
            from agent.player import describe

            yield self._say(describe(error))

    def overlong_line(self) -> Replies:
        """Say that a line was dropped."""
        yield say("a line was too long and is ignored")

    # What the player tells.

    def info(self, info: Info[chess.Move]) -> None:
        """Report a line of play."""
        self._send(info_line(info, self.show_wdl))

    def progress(self, progress: Progress[chess.Move], seconds: float) -> None:
        """Report where a long search stands."""
        self._send(progress_line(progress, seconds))

    def error(self, message: str) -> None:
        """Report that something failed."""
        self._send(self._say(message))

    def note(self, message: str) -> None:
        """Report anything else that the user should know."""
        self._send(self._say(message))

    def _say(self, message: str) -> str:
        return say(self.permissions.hide(message))

    def result(self, result: Result[chess.Move]) -> None:
        """Answer a `go`."""
        self._send(result_line(result))
        self.experience.flush()
        self.opponent.answered(result)

    # The commands, in the order of the table.

    def _uci(self, _: None) -> Replies:
        yield f"id name {self.name}"
        yield f"id author {self.author}"
        for option in self.options:
            if not option.refused:
                yield option.line()
        yield "uciok"
        self.engine.start()

    def _is_ready(self, _: None) -> Replies:
        if self.player.busy:
            yield "readyok"
        else:
            self.player.do(self._ready)

    def _ready(self, job: Job) -> None:
        try:
            self.prepare(job)
        finally:
            self._send("readyok")

    def _set_option(self, command: SetOption) -> Replies:
        option = find(self.options, command.name)
        self.require_room()
        value, remark = option.take(command.value)
        option.change(self, value)
        if remark:
            yield say(remark)

    def _new_game(self, _: None) -> Replies:
        self.forget()
        yield from ()

    def _set_position(self, position: PositionCommand) -> Replies:
        self._position.set(position, self.chess960)
        yield from ()

    def _go(self, go: GoCommand) -> Replies:
        board = self._position.recent()
        problems = list(go.problems)
        if "perft" in go.numbers:
            if not self.permissions.trusted:
                raise UciError(refusal("go perft"))
            yield from map(say, problems)
            depth = max(go.numbers["perft"], 1)
            self.player.do(lambda job: self._perft(job, board, depth), lengthy=True)
            return
        clock = go.numbers.get("btime" if board.turn else "wtime")
        self.face(None if clock is None else clock / 1e3)
        limits = _limits(go, board, problems)
        yield from map(say, brief(problems))
        if self._debug:
            from agent.clock import allot

            reserve = self.player.lag.reserve(limits.clock)
            budget = allot(limits, self.player.overhead, reserve, self.player.thrift)
            yield say(f"plans {budget.soft:.3f} s, at most {budget.hard:.3f} s")
        if self.crowded:  # each search is answered: those that are asked for wait for the others
            self.player.stop()
            self.player.wait()
        self.player.go(board, limits, self.lines)

    def _stop(self, _: None) -> Replies:
        self.player.stop()
        yield from ()

    def _ponder_hit(self, _: None) -> Replies:
        self.player.ponderhit()
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
        self.require_room()
        board = self._position.recent()
        self.player.do(lambda job: self._tell_evaluation(job, board), lengthy=True)
        yield from ()

    def _tell_evaluation(self, job: Job, board: chess.Board) -> None:
        kernel = self.engine.kernel(job.stop)
        value = self.player.apart(job, lambda: kernel.evaluate(board))
        if kernel.network is not None:
            self._tell_network(kernel.network, board, value)
        if not any(board.legal_moves):
            self._send(say(f"evaluation none ({'checkmate' if board.is_check() else 'stalemate'})"))
            return
        if kernel.network is not None:
            wins, draws, losses = wdl(Cp(value if board.turn else -value))
            self._send(say(f"wdl {wins} {draws} {losses} (white's view, permille)"))
        self._send(say(f"evaluation {(value if board.turn else -value) / 100:+.2f} (white's view)"))

    def _tell_network(self, network: Network, board: chess.Board, value: int) -> None:
        """Show what a network sees, and whether what is known of the ending says otherwise."""
        from agent.chess.network_model import evaluate
        from agent.chess.network_view import describe

        for line in describe(network, board):
            self._send(line)
        if value != evaluate(network, board):
            self._send(say("what is known of this ending changes the network's score"))

    def _bench(self, depth: int | None) -> Replies:
        self.player.do(lambda job: self._run_bench(job, depth), lengthy=True)
        yield from ()

    def _run_bench(self, job: Job, depth: int | None) -> None:
        self.engine.kernel(job.stop)
        from agent.chess.bench import DEPTH, run

        nodes, seconds = 0, 0.0
        for number, info in enumerate(run(depth or DEPTH, job.stop), 1):
            nodes, seconds = nodes + info.nodes, seconds + info.time
            self._send(say(f"position {number}: {score_text(info.score)}, {info.nodes} nodes"))
        self._send(f"{nodes} nodes {speed(nodes, seconds)} nps")

    def _perft(self, job: Job, board: chess.Board, depth: int) -> None:
        self.engine.kernel(job.stop)
        from agent.chess.perft import divide
        from agent.player import PlayerError

        stop = Event()
        job.stop.then(stop.set)
        total = 0
        for move, leaves in divide(board, depth, stop):
            if stop.is_set():
                raise PlayerError("perft: stopped")
            total += leaves
            self._send(f"{move.uci()}: {leaves}")
        self._send("")
        self._send(f"Nodes searched: {total}")

    def _flip(self, _: None) -> Replies:
        self._position.flip()
        yield from ()

    def _help(self, _: None) -> Replies:
        for name, command in COMMANDS.items():
            if self.permissions.trusted or not command.trusted:
                yield say(f"{name}: {command.help}")

    def hear_result(self, text: str) -> None:
        """Take note of how the game ended: one of RESULTS."""
        self.learn_result(text.removesuffix(FORFEIT), forfeit=text.endswith(FORFEIT))

    def meet(self, opponent: str) -> None:
        """Take note of the opponent: title, Elo, computer or human, name."""
        words = opponent.split(maxsplit=3)
        if opponent and (len(words) < 4 or words[2] not in ("computer", "human")):
            raise UciError("expected: UCI_Opponent value TITLE ELO computer|human NAME")
        name = words[3] if opponent else ""
        self.change_opponent(lambda opponent: opponent.meet(name))
        if opponent:
            title = "" if words[0] == "none" else f"{words[0]} "
            elo = "" if words[1] == "none" else f" ({words[1]})"
            self._send(say(f"playing against {title}{name}{elo}"))


def _split(line: str) -> tuple[str, str]:
    """Skip to the first word that is a command; return it, or "", and what follows it."""
    for word in re.finditer(r"\S+", line):
        if word[0].lower() in COMMANDS:
            return word[0].lower(), line[word.end() :].strip()
    return "", ""


def _limits(go: GoCommand, board: chess.Board, problems: list[str]) -> Limits[chess.Move]:
    """Return what a `go` means on this board; add to the problems what it cannot mean."""
    numbers = go.numbers
    mine, other = ("w", "b") if board.turn else ("b", "w")
    clock = None
    left = numbers.get(f"{mine}time", numbers.get(f"{other}time"))
    if left is not None:
        clock = SideClock(left / 1e3, numbers.get(f"{mine}inc", 0) / 1e3)
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


def _nothing(uci: Uci, value: object) -> None:
    """Accept what front ends set although it changes nothing here."""


OPTIONS: tuple[Option[Uci], ...] = (
    *SHARED,
    # Pondering is up to the front end: `go ponder` is understood with and without it.
    Option("Ponder", "check", _nothing, default=False),
    Option("UCI_Chess960", "check", setter("chess960"), default=False),
    Option("UCI_AnalyseMode", "check", ChessPlay.set_analysing, default=False),
    Option("UCI_ShowWDL", "check", setter("show_wdl"), default=False),
    Option("UCI_Opponent", "string", Uci.meet),
    # UCI has no word for it; what is not told habits judge by the last position.
    Option(
        "Game Result",
        "combo",
        Uci.hear_result,
        default=RESULTS[0],
        choices=RESULTS,
    ),
    # For the front end to show; what it sets has no meaning.
    Option(
        "UCI_EngineAbout",
        "string",
        _nothing,
        default="Kempelen, a game-playing agent server in Python, GPL-3.0-or-later. Its network's "
        "positions are from games of Kempelen against itself, their scores from its own searches "
        "and from Stockfish 15.1, to which the hand-made evaluation was fitted too",
    ),
)

COMMANDS: dict[str, Command] = {
    "uci": Command(parse_nothing, Uci._uci, "say who this is and which options there are"),
    "isready": Command(parse_nothing, Uci._is_ready, "answer readyok, when ready"),
    "setoption": Command(parse_set_option, Uci._set_option, "name NAME [value VALUE]"),
    "ucinewgame": Command(parse_nothing, Uci._new_game, "forget the last game"),
    "position": Command(parse_position, Uci._set_position, "startpos|fen FEN [moves MOVE ...]"),
    "go": Command(
        parse_go,
        Uci._go,
        "[wtime T btime T winc T binc T movestogo N] [movetime T] [depth N] [nodes N] [mate N] "
        "[infinite] [ponder] [searchmoves MOVE ...] [perft N]; times in milliseconds",
    ),
    "stop": Command(parse_nothing, Uci._stop, "end the search and answer it"),
    "ponderhit": Command(parse_nothing, Uci._ponder_hit, "the expected move was played"),
    "quit": Command(parse_nothing, Uci._quit, "end the program"),
    "debug": Command(parse_switch, Uci._set_debug, "on|off: say more"),
    "register": Command(parse_nothing, Uci._register, "accepted; nothing needs to be registered"),
    "d": Command(parse_nothing, Uci._display, "show the position"),
    "eval": Command(parse_nothing, Uci._evaluate, "show the evaluation of the position"),
    "bench": Command(
        parse_depth, Uci._bench, "[DEPTH]: search a fixed set of positions", trusted=True
    ),
    "flip": Command(parse_nothing, Uci._flip, "change the sides"),
    "help": Command(parse_nothing, Uci._help, "list the commands"),
}
