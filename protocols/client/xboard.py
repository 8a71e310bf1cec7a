"""An xboard engine as an object, with the same words as a UCI engine.

The `chess` package speaks the protocol (CECP, version 2); the process is ours, so that it dies
with the runner and is read only while something is expected of it. The engine must know `ping`
and `setboard`. Its thoughts are reported with its move alone.

The protocol has limits of its own: `level` tells whole seconds of base time, and some engines
read whole seconds of increment; the time left is told before each move in hundredths.
"""

import asyncio
import logging
import re
import shlex
import time
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import chess
import chess.engine

from agent.io.sanitize import sanitize_line, sanitize_name
from agent.limits import Cp, Info, Mate
from protocols.client.engine import (
    EngineClient,
    EngineOptionError,
    EngineState,
    EngineTimeoutError,
    EngineTransport,
    EngineUnresponsiveError,
    parse_bool,
)
from protocols.client.process import MAX_MESSAGE_LENGTH, EngineDiedError, EngineError
from protocols.client.uci import RESIGNATION, InfoCallback, PlayResult, SearchRequest
from protocols.tasks import cancel_all

SearchResult = TypeVar("SearchResult")

# Where an engine does not say that its features are done, they are so many seconds after the last.
FEATURE_LIMIT = 2.0

# `feature option="NAME -KIND ..."`: the name may have several words, and a hyphen.
_OPTION = re.compile(
    r"option=(?P<name>.+?) +-(?P<kind>button|save|reset|check|string|file|path|spin|slider|combo)"
    r"(?P<rest>| .*)"
)
_BUTTONS = ("button", "save", "reset")
# What the protocol has commands for, which are no engine's options.
_OWN_COMMANDS = ("random", "computer", "cores", "memory")

# A line of thinking: depth, score, time and nodes, then moves.
_THINKING_LINE = re.compile(r"\s*\d+\s+[-+]?\d+\s+\d+\s+\d+\s")

# What an engine says beside the protocol is no news to the user.
logging.getLogger("chess.engine").addHandler(logging.NullHandler())


class _Protocol(chess.engine.XBoardProtocol):
    """The chess package's protocol over a process of ours; it notes when the clock ran."""

    def __init__(self, process: EngineTransport) -> None:
        super().__init__()
        self._process = process
        self.go_time = self.move_time = 0.0
        self.move = ""
        self._last_thinking_line = ""

    def send_line(self, line: str) -> None:
        """Write a line to the process."""
        if line == "go":  # the answer may arrive before `send` returns
            self.go_time, self.move = time.perf_counter(), ""
        self._process.send(line)

    def receive(self, line: str) -> None:
        """Take a line from the process; of its thoughts the last one before something else.

        To read them all would take the processor from the engine that has them.
        """
        if _THINKING_LINE.match(line):
            self._last_thinking_line = line
            return
        thought, self._last_thinking_line = self._last_thinking_line, ""
        if thought:
            self.pipe_data_received(1, thought.encode() + b"\n")
        word, _, rest = line.partition(" ")
        if word == "move" and not self.move:
            self.move_time, self.move = self._process.arrived, rest.strip()
        if word == "feature" and not self.initialized:
            self._set_timer()
            line = self._take_options(line)
        self.pipe_data_received(1, line.encode() + b"\n")

    def _take_options(self, line: str) -> str:
        """Take the options out of a line of features, and return the rest of it.

        The chess package takes the first word for the name, which may have several.
        """
        try:
            features = shlex.split(line)
        except ValueError:
            return line  # whose complaint is the chess package's
        options = [feature for feature in features if feature.startswith("option=")]
        for option in filter(None, map(_parse_option, options)):
            self.options[option.name] = option
        return shlex.join(feature for feature in features if feature not in options)

    async def request_features(self) -> None:
        """Ask for the features, and take those that have come when no more come.

        The chess package gives them a time from its first word on; they are given it from their
        own first word on here, since a busy machine starts programs slowly.
        """
        beginning = asyncio.ensure_future(self.initialize())
        await asyncio.sleep(0)
        self.stop_timer()
        await beginning

    def stop_timer(self) -> None:
        """Stop the timer of the features, if it runs."""
        timer = getattr(self.command, "timeout_handle", None)
        if timer is not None:
            timer.cancel()

    def _set_timer(self) -> None:
        command: Any = self.command
        self.stop_timer()
        command.timeout_handle = self.loop.call_later(FEATURE_LIMIT, command.timeout)

    async def read_forever(self) -> None:
        """Hand on what the process says; EngineDiedError at its end."""
        while True:
            self.receive(await self._process.read_line())


@dataclass
class XboardClient(EngineClient):
    """One program that speaks xboard's protocol."""

    chess960: bool = False
    _protocol: _Protocol | None = None
    _game: object = None

    async def start(self) -> None:
        """Start the process and take its features."""
        self._protocol = _Protocol(await self._launch())
        await self._ask(self.start_limit, "features", self._protocol.request_features())
        self.name = sanitize_name(self._protocol.id.get("name", ""))
        self.state = EngineState.IDLE

    async def configure(self, options: Mapping[str, str | int | float | bool]) -> None:
        """Set options by name (case does not count): `memory`, `cores`, and the engine's own."""
        protocol = self._idle()
        known = {name.lower(): name for name in protocol.options}
        chosen = {}
        for name, value in options.items():
            if name.lower() not in known:
                names = ", ".join(sorted(protocol.options)) or "none"
                raise EngineOptionError(
                    sanitize_line(f"{self.name} has no option {name}; it has: {names}")
                )
            option = protocol.options[known[name.lower()]]
            try:
                chosen[option.name] = option.parse(
                    parse_bool(option.name, str(value)) if option.type == "check" else str(value)
                )
            except (chess.engine.EngineError, ValueError) as error:
                raise EngineOptionError(f"option {option.name}: {error}") from None
        await self._ask(self.ready_limit, "answer", protocol.configure(chosen))

    async def new_game(self) -> None:
        """Have the next position taken for one of another game."""
        protocol = self._idle()
        self._game = object()
        await self._ask(self.ready_limit, "pong", protocol.ping())

    def set_opponent(self, opponent: str) -> None:
        """Tell the opponent's name, unless the engine does not want to know."""
        protocol = self._idle()
        if protocol.features.get("name", True):
            protocol.send_line(f"name {opponent}")

    def send_result(self, result: str, reason: str) -> None:
        """Tell how the game ended, as PGN writes it, and why."""
        self._idle().send_line(f"result {result} {{{reason}}}")

    async def search(
        self,
        request: SearchRequest,
        limit: float,
        on_info: InfoCallback | None = None,
    ) -> PlayResult:
        """Search one position; raise EngineTimeoutError when `limit` seconds bring no move.

        An engine that resigns answers RESIGNATION.
        """
        protocol = self._idle()
        await self._ask(self.ready_limit, "pong", protocol.ping())
        board = chess.Board(request.fen or chess.STARTING_FEN, chess960=self.chess960)
        for move in request.moves:
            board.push_uci(move)
        playing = protocol.play(
            board,
            _limit(request, self._game),
            game=self._game,
            info=chess.engine.INFO_BASIC | chess.engine.INFO_SCORE | chess.engine.INFO_PV,
        )
        self.state = EngineState.SEARCHING
        try:
            result = await self._run_with_timeout(playing, limit)
        except TimeoutError:
            raise EngineTimeoutError(f"no move within {limit:.3g} s") from None
        except chess.engine.EngineError as error:
            if not protocol.move:
                raise EngineError(
                    f"the engine says: {sanitize_line(str(error), MAX_MESSAGE_LENGTH)}"
                ) from None
            # A move that cannot be played is for the referee to see.
            return PlayResult(protocol.move, None, None, protocol.move_time - protocol.go_time)
        finally:
            if self.state is EngineState.SEARCHING:
                self.state = EngineState.IDLE
        ended = protocol.move_time if protocol.move else time.perf_counter()
        text = board.uci(result.move) if result.move else ""
        return PlayResult(
            move=RESIGNATION if result.resigned else text,
            ponder=None,
            info=_info(result.info),
            elapsed=ended - protocol.go_time,
        )

    def _idle(self) -> _Protocol:
        self._expect_idle()
        assert self._protocol is not None
        return self._protocol

    async def _ask(
        self, limit: float, word: str, action: Coroutine[Any, Any, SearchResult]
    ) -> SearchResult:
        """Do what the engine must always be able to do."""
        try:
            return await self._run_with_timeout(action, limit)
        except TimeoutError:
            self.state = EngineState.FAILED
            raise EngineUnresponsiveError(f"no {word} within {limit:.3g} s") from None
        except chess.engine.EngineError as error:
            self.state = EngineState.FAILED
            raise EngineError(
                f"the engine says: {sanitize_line(str(error), MAX_MESSAGE_LENGTH)}"
            ) from None

    async def _run_with_timeout(
        self, action: Coroutine[Any, Any, SearchResult], limit: float
    ) -> SearchResult:
        """Listen to the process while an action goes on; TimeoutError after `limit` seconds."""
        assert self._protocol is not None
        acting = asyncio.ensure_future(action)
        pumping = asyncio.ensure_future(self._protocol.read_forever())
        both: set[asyncio.Future[Any]] = {acting, pumping}
        try:
            await asyncio.wait(both, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if acting.done():
                return acting.result()
            if pumping.done():
                raise await self._failure(pumping.exception())
            raise TimeoutError
        finally:
            if not acting.done():
                self._protocol.stop_timer()
            await cancel_all(both)

    async def _failure(self, error: BaseException | None) -> EngineError:
        """Return what ended the listening: the process's end, or words that make no sense."""
        if isinstance(error, EngineDiedError):
            return await self._died_error()
        self.state = EngineState.FAILED
        words = sanitize_line(str(error), MAX_MESSAGE_LENGTH)
        return EngineError(f"the engine does not keep to its protocol: {words}")


def _parse_option(feature: str) -> chess.engine.Option | None:
    """Return the option that a feature declares; None if it is none that is known."""
    match = _OPTION.fullmatch(feature)
    if match is None or match["name"] in _OWN_COMMANDS:
        return None
    name, kind, rest = match["name"], match["kind"], match["rest"].strip()
    if kind == "combo":
        choices = [choice.strip() for choice in rest.split("///")]
        default = next((each[1:] for each in choices if each.startswith("*")), None)
        var = [each.removeprefix("*") for each in choices]
        return chess.engine.Option(name, kind, default, None, None, var)
    if kind in ("spin", "slider", "check"):
        numbers = [int(word) for word in rest.split() if re.fullmatch(r"[+-]?\d+", word)]
        default, least, most = (*numbers, None, None, None)[:3]
        if kind == "check":
            return chess.engine.Option(name, kind, bool(default), None, None, None)
        return chess.engine.Option(name, "spin", default, least, most, None)
    return chess.engine.Option(name, kind, None if kind in _BUTTONS else rest, None, None, None)


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
    return limit


def _info(said: chess.engine.InfoDict) -> Info[str] | None:
    """Return what the last line of thinking said, from the mover's side."""
    score = said.get("score")
    if score is None:
        return None
    mate, value = score.relative.mate(), score.relative.score()
    return Info(
        depth=said.get("depth", 0),
        score=Cp(value or 0) if mate is None else Mate(mate),
        pv=tuple(move.uci() for move in said.get("pv", ())),
        nodes=said.get("nodes", 0),
        time=said.get("time", 0.0),
    )
