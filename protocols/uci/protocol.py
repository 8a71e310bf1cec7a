"""The UCI protocol, without I/O. Its commands are in COMMANDS.

Sources: the UCI specification of April 2006 by Rudolf Huber and Stefan Meyer-Kahlen, and the
behaviour of common front ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from threading import Event
from typing import TYPE_CHECKING, Any

from agent.games.variants import is_standard, variant_of, variant_outcome
from agent.limits import Cp, Info, Limits, Progress, Result, SideClock
from agent.threads.one_shot_event import wait_for_any
from protocols.current_line import charge_search
from protocols.permissions import permission_denied_message
from protocols.session_context import STANDALONE, SessionContext
from protocols.uci.chess_session import ChessSession
from protocols.uci.engine_options import OPTIONS
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
    split_command,
)
from protocols.uci.position import CurrentPosition, read_move

if TYPE_CHECKING:
    import chess

    from agent.chess.engine.backend import ChessBackend
    from agent.chess.evaluation.nnue_format import NnueNetwork
    from agent.chess.search.chess_search import ChessSearch
    from agent.threads.serial_executor import Job

Replies = Iterator[str]


@dataclass(frozen=True, slots=True)
class Command:
    """A UCI command with its argument parser and its handler."""

    parse: Callable[[str], Any]
    handler: Callable[[UciProtocol, Any], Replies]
    help: str
    requires_trust: bool = False  # see `protocols.permissions`


class UciProtocol:
    """A UCI engine. The function `send` must be thread-safe. `log_to` is as in `ChessSession`."""

    def __init__(
        self,
        name: str,
        author: str,
        send: Callable[[str], None],
        log_to: Callable[[str], None],
        make_engine: Callable[[Callable[[str], None]], ChessBackend] | None = None,
        extra_options: tuple[Option, ...] = (),
        session_context: SessionContext = STANDALONE,
    ) -> None:
        self.finished = False
        self.session = ChessSession(
            self, OPTIONS + extra_options, log_to, make_engine, session_context
        )
        self._name = name
        self._author = author
        self._send = send
        self._permissions = session_context.permissions
        self._debug = False
        self._introduced = False
        self._position = CurrentPosition()

    def handle_line(self, line: str) -> Replies:
        """Handle one line and yield the replies. This method never raises an exception."""
        try:
            name, rest = split_command(line, COMMANDS)
            if name:
                self._introduced = True
                command = COMMANDS[name]
                if command.requires_trust and not self._permissions.trusted:
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
        # It can only be a `position` command. No older position may be searched instead.
        self._position.refuse("the line was too long")
        yield info_string("line too long; ignored")

    def drain(self, timeout: float | None = None) -> bool:
        return self.finished or self.session.drain(timeout)

    def close(self, timeout: float) -> bool:
        return self.session.close(timeout)

    # Events of the session.

    def info(self, info: Info[chess.Move]) -> None:
        self._send(info_line(info, self.session.show_wdl))

    def progress(self, progress: Progress[chess.Move], seconds: float) -> None:
        self._send(progress_line(progress, seconds))

    def error(self, message: str) -> None:
        self._send(self._info_string(message))

    def report(self, message: str) -> None:
        self._send(self._info_string(message))

    def _info_string(self, message: str) -> str:
        return info_string(self._permissions.redact(message))

    def result(self, result: Result[chess.Move]) -> None:
        if result.move is not None and not (result.info and result.info.pv):
            # The search failed before its first line, and front ends expect one. No score is known.
            self._send(f"info depth 0 pv {result.move.uci()}")
        self._send(bestmove_line(result))
        self.session.learning.flush()
        self.session.opponent.record_move(result)

    # Command handlers, in the order of COMMANDS.

    def _uci(self, _: None) -> Replies:
        yield f"id name {self._name}"
        yield f"id author {self._author}"
        for option in self.session.options:
            if not (option.forbidden or option.hidden):
                yield option.declaration_line()
        yield "uciok"
        self.session.engine.start()

    def _is_ready(self, _: None) -> Replies:
        agent = self.session.agent
        searches = (job for job in agent.pending() if job.long_running)
        stopped = list(takewhile(lambda job: job.stop.is_set(), searches))
        if stopped:  # A search that was told to stop answers first.
            stopped[-1].ended.add_callback(lambda: self._send("readyok"))
        elif agent.busy:
            yield "readyok"
        else:
            agent.submit(self._send_readyok)

    def _send_readyok(self, job: Job) -> None:
        try:
            self.session.prepare(job)
        finally:
            self._send("readyok")

    def _set_option(self, command: SetOptionCommand) -> Replies:
        option = find_option(self.session.options, command.name)
        if renamed := renamed_remark(command.name):
            yield info_string(renamed)
        self.session.require_queue_space(f"setoption name {option.name}")
        value, remark = option.parse_permitted(command.value)
        option.on_change(self.session, value)
        self._position.change_rules(self.session.rules)
        if remark:
            yield info_string(remark)

    def _new_game(self, _: None) -> Replies:
        self.session.new_game()
        yield from ()

    def _set_position(self, text: str) -> Replies:
        try:
            position = parse_position(text)
        except UciError as error:
            self._position.refuse(str(error))
            raise
        self._position.set(position, self.session.rules)
        yield from ()

    def _go(self, go: GoCommand) -> Replies:
        session, agent = self.session, self.session.agent
        try:
            board = self._position.board.copy()
        except UciError as error:
            yield info_string(f"go: {error}")
            session.wait_for_queue_space()
            agent.stop_endless()
            endless = go.infinite or go.ponder
            agent.submit(partial(self._answer_nothing, go), long_running=True, endless=endless)
            return
        problems = list(go.problems)
        if "perft" in go.numbers:
            if not self._permissions.trusted:
                raise UciError(permission_denied_message("go perft"))
            yield from map(info_string, problems)
            depth = max(go.numbers["perft"], 1)
            agent.submit(lambda job: self._perft(job, board, depth), long_running=True)
            return
        clock = go.numbers.get("btime" if board.turn else "wtime")
        session.set_opponent_clock(None if clock is None else clock / 1e3)
        limits = _limits(go, board, problems)
        yield from map(info_string, shorten_list(problems))
        if self._debug:
            from agent.clock import allocate_time

            reserve = agent.lag_estimator.reserve(limits.clock)
            budget = allocate_time(limits, agent.overhead, reserve, agent.time_factor)
            yield info_string(f"time budget: {budget.soft:.3f} s, at most {budget.hard:.3f} s")
        session.wait_for_queue_space()  # Every `go` needs a `bestmove`, so it is never dropped.
        charge_search()
        agent.go(board, limits, session.multipv)

    def _answer_nothing(self, go: GoCommand, job: Job) -> None:
        if go.infinite:
            wait_for_any(job.stop)
        elif go.ponder:
            wait_for_any(job.stop, job.ponderhit)
        self._send("bestmove (none)")

    def _stop(self, _: None) -> Replies:
        self.session.agent.stop()
        yield from ()

    def _ponder_hit(self, _: None) -> Replies:
        self.session.agent.ponderhit()
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
        if not is_standard(board):
            yield f"Variant: {variant_of(board)}"
        yield f"Fen: {board.fen()}"
        yield f"Key: {zobrist_hash(board):016X}"
        yield "Checkers: " + " ".join(_square_names(board.checkers()))
        yield "Moves: " + " ".join(move.uci() for move in board.legal_moves)

    def _evaluate(self, _: None) -> Replies:
        self.session.require_queue_space("eval")
        charge_search()
        board = self._position.board.copy()
        self.session.agent.submit(lambda job: self._send_evaluation(job, board), long_running=True)
        yield from ()

    def _send_evaluation(self, job: Job, board: chess.Board) -> None:
        kernel = self._wait_for_kernel(job, "eval")
        if variant_outcome(board) is not None:
            self._send(info_string(f"evaluation none (the game of {variant_of(board)} is over)"))
            return
        value = self.session.agent.run_user_code(job, lambda: kernel.evaluate(board))
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

    def _wait_for_kernel(self, job: Job, command: str) -> ChessSearch:
        from agent.agent import AgentError

        try:
            return self.session.engine.wait_for_kernel(job.stop)
        except AgentError as error:
            raise AgentError(f"{command}: {error}") from None

    def _send_network(self, network: NnueNetwork, board: chess.Board, value: int) -> None:
        from agent.chess.evaluation.nnue_breakdown import format_breakdown
        from agent.chess.evaluation.nnue_reference import evaluate

        for line in format_breakdown(network, board):
            self._send(line)
        if value != evaluate(network, board):
            self._send(info_string("endgame knowledge changes the network's score"))

    def _bench(self, depth: int | None) -> Replies:
        self.session.agent.submit(lambda job: self._run_bench(job, depth), long_running=True)
        yield from ()

    def _run_bench(self, job: Job, depth: int | None) -> None:
        self._wait_for_kernel(job, "bench")
        from agent.chess.search.bench import DEPTH, run

        nodes, seconds = 0, 0.0
        for index, info in enumerate(run(depth or DEPTH, job.stop), 1):
            nodes, seconds = nodes + info.nodes, seconds + info.time
            self._send(
                info_string(f"position {index}: {score_text(info.score)}, {info.nodes} nodes")
            )
        self._send(f"{nodes} nodes {nodes_per_second(nodes, seconds)} nps")

    def _perft(self, job: Job, board: chess.Board, depth: int) -> None:
        self._wait_for_kernel(job, "go perft")
        from agent.agent import AgentError
        from agent.chess.board.perft import divide

        stop = Event()
        job.stop.add_callback(stop.set)
        total = 0
        for move, leaves in divide(board, depth, stop):
            if stop.is_set():
                raise AgentError("go perft: stopped")
            total += leaves
            self._send(f"{move.uci()}: {leaves}")
        self._send("")
        self._send(f"Nodes searched: {total}")

    def _flip(self, _: None) -> Replies:
        self._position.flip()
        yield from ()

    def _help(self, _: None) -> Replies:
        for name, command in COMMANDS.items():
            if self._permissions.trusted or not command.requires_trust:
                yield info_string(f"{name}: {command.help}")


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
            problems.append(f"go searchmoves: {error}; this move is ignored")
    if go.search_moves and not search_moves:
        problems.insert(0, "go searchmoves: no legal move in the list; searching all moves")
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


COMMANDS: dict[str, Command] = {
    "uci": Command(parse_nothing, UciProtocol._uci, "print the engine's name and options"),
    "isready": Command(parse_nothing, UciProtocol._is_ready, "answer readyok when ready"),
    "setoption": Command(parse_set_option, UciProtocol._set_option, "name NAME [value VALUE]"),
    "ucinewgame": Command(parse_nothing, UciProtocol._new_game, "start a new game"),
    "position": Command(str, UciProtocol._set_position, "startpos|fen FEN [moves MOVE ...]"),
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
