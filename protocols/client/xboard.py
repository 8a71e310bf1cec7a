"""A client for xboard (CECP) engines, with the same interface as the UCI client.

The `chess` package implements the protocol, and `EngineProcess` performs the I/O. The engine must
support `ping` and `setboard`. Thinking output is reported only together with the move.
"""

import asyncio
import logging
import re
import shlex
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

import chess
import chess.engine

from agent.games.fen import board_from_fen
from agent.games.variants import STANDARD_RULES, ChessRules
from agent.io.message import Message
from agent.io.sanitize import sanitize_line, sanitize_name
from agent.limits import Cp, Info, Mate
from protocols.client.engine import (
    MAX_KEPT_LENGTH,
    MAX_SCORE,
    EngineClient,
    EngineOptionError,
    EngineState,
    EngineTimeoutError,
    EngineUnresponsiveError,
    Settings,
    parse_bool,
    unknown_option_message,
)
from protocols.client.process import (
    MAX_MESSAGE_LENGTH,
    EngineDiedError,
    EngineError,
    EngineProcess,
)
from protocols.client.uci import RESIGNATION, InfoCallback, PlayResult, SearchRequest
from protocols.tasks import cancel_all
from protocols.uci.options import current_name

SearchResult = TypeVar("SearchResult")

# Seconds to wait after the last feature if an engine does not send `done=1`.
FEATURE_LIMIT = 2.0

# `feature option="NAME -TYPE ..."`: the name may contain spaces and hyphens.
_OPTION = re.compile(
    r"option=(?P<name>.+?) +-(?P<type>button|save|reset|check|string|file|path|spin|slider|combo)"
    r"(?P<rest>| .*)"
)
_BUTTONS = ("button", "save", "reset")
# Options that the `chess` package adds for protocol commands.
_OWN_COMMANDS = ("random", "computer", "cores", "memory")

# Thinking output: depth, score, time, nodes and moves.
_THINKING_LINE = re.compile(r"\s*\d+(?:\s+[-+]?\d+){3}(?:\s|$)")
# Longer numbers are invalid.
_MAX_DIGITS = 18
# Seconds per move of a search without limits, in place of the engine's default clock.
_NO_LIMIT = 86400.0

# Warnings about an engine's unexpected lines are not shown to the user.
logging.getLogger("chess.engine").addHandler(logging.NullHandler())


class _Protocol(chess.engine.XBoardProtocol):
    """Connects the protocol of the `chess` package to an engine transport and times moves."""

    def __init__(self, process: EngineProcess) -> None:
        super().__init__()
        self._process = process
        self.go_time = self.move_time = 0.0
        self.move = ""
        self._last_thinking_line = ""
        self._features_length = 0

    def send_line(self, line: str) -> None:
        if line == "go":  # Set before `send`, because the answer may arrive before `send` returns.
            self.go_time, self.move = time.perf_counter(), ""
        self._process.send(line)

    def receive(self, line: str) -> None:
        """Handle a line. Of consecutive lines of thinking output, only the last one is parsed.

        Lines of thinking output with an invalid number are ignored.
        """
        if _THINKING_LINE.match(line):
            if max(map(len, line.split()[:4])) <= _MAX_DIGITS:
                self._last_thinking_line = line
            return
        thinking, self._last_thinking_line = self._last_thinking_line, ""
        if thinking:
            self.pipe_data_received(1, thinking.encode() + b"\n")
        word, _, rest = line.partition(" ")
        if word == "move" and not self.move:
            self.move_time, self.move = self._process.arrived, rest.strip()
        if word == "feature":
            self._features_length += len(line)
            if self._features_length > MAX_KEPT_LENGTH:
                raise EngineError(
                    "list of features too long (at most {} characters)", MAX_KEPT_LENGTH
                )
        if word == "feature" and not self.initialized:
            self._set_timer()
            line = self._take_options(line)
        self.pipe_data_received(1, line.encode() + b"\n")

    def _take_options(self, line: str) -> str:
        """Parse the options in a `feature` line, and return the line without them."""
        # The `chess` package does not support option names with spaces.
        try:
            features = shlex.split(line)
        except ValueError:
            return line  # The `chess` package reports the error.
        options = [feature for feature in features if feature.startswith("option=")]
        for option in filter(None, map(_parse_option, options)):
            self.options[option.name] = option
        return shlex.join(feature for feature in features if feature not in options)

    async def request_features(self) -> None:
        """Request the engine's features and wait until all of them have arrived."""
        initialization = asyncio.ensure_future(self.initialize())
        await asyncio.sleep(0)
        # Restarted by the first feature, because programs start slowly on a busy machine.
        self.stop_timer()
        await initialization

    def stop_timer(self) -> None:
        timer = getattr(self.command, "timeout_handle", None)
        if timer is not None:
            timer.cancel()

    def _set_timer(self) -> None:
        command: Any = self.command
        self.stop_timer()
        command.timeout_handle = self.loop.call_later(FEATURE_LIMIT, command.timeout)

    async def read_forever(self) -> None:
        """Handle output lines, and raise `EngineDiedError` at the end of the output."""
        while True:
            self.receive(await self._process.read_line())


@dataclass(eq=False)
class XboardClient(EngineClient):
    rules: ChessRules = STANDARD_RULES
    _protocol: _Protocol | None = None
    _game: object = None

    async def start(self) -> None:
        self._protocol = _Protocol(await self._launch())
        await self._ask(self.start_limit, "features", self._protocol.request_features())
        self.name = sanitize_name(self._protocol.id.get("name", ""))
        self.state = EngineState.IDLE
        await self.configure(self.settings)

    async def configure(self, options: Settings) -> None:
        """Set options by case-insensitive name, or raise `EngineOptionError`.

        Besides the engine's options, the names `memory` and `cores` are valid.
        """
        protocol = self._idle()
        names = {name.lower(): name for name in protocol.options}
        parsed = {}
        for name, value in options.items():
            key = name.lower() if name.lower() in names else current_name(name).lower()
            if key not in names:
                available = ", ".join(sorted(protocol.options)) or "none"
                raise EngineOptionError(unknown_option_message(self.name, name, available))
            option = protocol.options[names[key]]
            try:
                parsed[option.name] = option.parse(
                    parse_bool(option.name, str(value)) if option.type == "check" else str(value)
                )
            except (chess.engine.EngineError, ValueError) as error:
                raise EngineOptionError(f"option {option.name}: {error}") from None
        await self._ask(self.ready_limit, "answer", protocol.configure(parsed))

    async def new_game(self) -> None:
        protocol = self._idle()
        self._game = object()
        await self._ask(self.ready_limit, "pong", protocol.ping())

    async def set_opponent(self, name: str) -> None:
        """Send the opponent's name, unless the engine has disabled the feature `name`."""
        protocol = self._idle()
        if protocol.features.get("name", True):
            protocol.send_line(f"name {name}")

    async def report_result(self, result: str, reason: str, *, forfeit: bool) -> None:
        self._idle().send_line(f"result {result} {{{reason}}}")

    async def search(
        self,
        request: SearchRequest,
        limit: float,
        on_info: InfoCallback | None = None,
    ) -> PlayResult:
        """Return the move or RESIGNATION, or raise `EngineTimeoutError` after `limit` seconds."""
        protocol = self._idle()
        await self._ask(self.ready_limit, "pong", protocol.ping())
        board = board_from_fen(request.fen, self.rules)
        for move in request.moves:
            board.push_uci(move)
        play = protocol.play(
            board,
            _limit(request, self._game),
            game=self._game,
            info=chess.engine.INFO_BASIC | chess.engine.INFO_SCORE | chess.engine.INFO_PV,
        )
        self.state = EngineState.SEARCHING
        try:
            result = await self._run_with_timeout(play, limit)
        except TimeoutError:
            raise EngineTimeoutError("no {} within {:.3g} s", "move", limit) from None
        except chess.engine.EngineError as error:
            if not protocol.move:
                raise EngineError(_reported_error(error)) from None
            # The referee handles illegal moves.
            return PlayResult(protocol.move, None, None, protocol.move_time - protocol.go_time)
        finally:
            if self.state is EngineState.SEARCHING:
                self.state = EngineState.IDLE
        end_time = protocol.move_time if protocol.move else time.perf_counter()
        text = board.uci(result.move) if result.move else ""
        return PlayResult(
            move=RESIGNATION if result.resigned else text,
            ponder=None,
            info=_info(result.info),
            elapsed=end_time - protocol.go_time,
        )

    def _idle(self) -> _Protocol:
        self._expect_idle()
        assert self._protocol is not None
        return self._protocol

    async def _ask(
        self, limit: float, answer: str, action: Coroutine[Any, Any, SearchResult]
    ) -> SearchResult:
        try:
            return await self._run_with_timeout(action, limit)
        except TimeoutError:
            self.state = EngineState.FAILED
            raise EngineUnresponsiveError("no {} within {:.3g} s", answer, limit) from None
        except chess.engine.EngineError as error:
            self.state = EngineState.FAILED
            raise EngineError(_reported_error(error)) from None

    async def _run_with_timeout(
        self, action: Coroutine[Any, Any, SearchResult], limit: float
    ) -> SearchResult:
        """Await `action` while reading output, or raise `TimeoutError` after `limit` seconds."""
        assert self._protocol is not None
        action_task = asyncio.ensure_future(action)
        reader_task = asyncio.ensure_future(self._protocol.read_forever())
        tasks: set[asyncio.Future[Any]] = {action_task, reader_task}
        try:
            await asyncio.wait(tasks, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if action_task.done():
                return action_task.result()
            if reader_task.done():
                raise await self._failure(reader_task.exception())
            raise TimeoutError
        finally:
            if not action_task.done():
                self._protocol.stop_timer()
            await cancel_all(tasks)

    async def _failure(self, error: BaseException | None) -> EngineError:
        if isinstance(error, EngineDiedError):
            return await self._died_error()
        self.state = EngineState.FAILED
        reason = sanitize_line(str(error), MAX_MESSAGE_LENGTH)
        return EngineError("protocol error of the engine: {}", reason)


def _reported_error(error: chess.engine.EngineError) -> Message:
    reason = sanitize_line(str(error), MAX_MESSAGE_LENGTH)
    return Message("the engine reports an error: {}", reason)


def _parse_option(feature: str) -> chess.engine.Option | None:
    """Parse an `option=` feature. Return None for names that the `chess` package reserves."""
    match = _OPTION.fullmatch(feature)
    if match is None or match["name"] in _OWN_COMMANDS:
        return None
    name, type_, rest = match["name"], match["type"], match["rest"].strip()
    if type_ == "combo":
        choices = [choice.strip() for choice in rest.split("///")]
        default = next((choice[1:] for choice in choices if choice.startswith("*")), None)
        var = [choice.removeprefix("*") for choice in choices]
        return chess.engine.Option(name, type_, default, None, None, var)
    if type_ in ("spin", "slider", "check"):
        numbers = [int(word) for word in rest.split() if re.fullmatch(r"[+-]?\d{1,18}", word)]
        default, minimum, maximum = (*numbers, None, None, None)[:3]
        if type_ == "check":
            return chess.engine.Option(name, type_, bool(default), None, None, None)
        return chess.engine.Option(name, "spin", default, minimum, maximum, None)
    return chess.engine.Option(name, type_, None if type_ in _BUTTONS else rest, None, None, None)


def _limit(request: SearchRequest, game: object) -> chess.engine.Limit:
    limit = chess.engine.Limit(
        time=request.movetime,
        depth=request.depth,
        remaining_moves=request.moves_to_go,
        clock_id=game,
    )
    if request.white and request.black:
        limit.white_clock, limit.white_inc = request.white.time, request.white.increment
        limit.black_clock, limit.black_inc = request.black.time, request.black.increment
    elif request.movetime is None and request.depth is None:
        limit.time = _NO_LIMIT
    return limit


def _info(fields: chess.engine.InfoDict) -> Info[str] | None:
    """Convert thinking output, or return None if it has no score."""
    score = fields.get("score")
    if score is None:
        return None
    mate, value = score.relative.mate(), score.relative.score()
    if abs(value or mate or 0) > MAX_SCORE:
        return None
    return Info(
        depth=fields.get("depth", 0),
        score=Cp(value or 0) if mate is None else Mate(mate),
        pv=tuple(move.uci() for move in fields.get("pv", ())),
        nodes=max(fields.get("nodes", 0), 0),
        time=max(fields.get("time", 0.0), 0.0),
    )
