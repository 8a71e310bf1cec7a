"""An xboard engine as an object, with the same words as a UCI engine.

The `chess` package speaks the protocol (CECP, version 2); the process is ours, so that it dies
with the runner and is read only while something is expected of it. The engine must know `ping`
and `setboard`. Its thoughts are reported with its move alone.

The protocol has limits of its own: `level` tells whole seconds of base time, and some engines
read whole seconds of increment; the time left is told before each move in hundredths.
"""

import asyncio
import logging
import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import chess
import chess.engine

from agent.limits import Cp, Info, Mate
from protocols.client.process import (
    QUIT_LIMIT,
    EngineDiedError,
    EngineError,
    EngineProcess,
    IoLog,
)
from protocols.client.uci import (
    READY_LIMIT,
    RESIGNATION,
    START_LIMIT,
    Answer,
    EngineOptionError,
    EngineTimeoutError,
    EngineUnresponsiveError,
    InfoCallback,
    SearchRequest,
    State,
)

Found = TypeVar("Found")

# Where an engine does not say that its features are done, they are so many seconds after the last.
FEATURE_LIMIT = 2.0

# What an engine says beside the protocol is no news to the user.
logging.getLogger("chess.engine").addHandler(logging.NullHandler())


class _Protocol(chess.engine.XBoardProtocol):
    """The chess package's protocol over a process of ours; it notes when the clock ran."""

    def __init__(self, process: EngineProcess) -> None:
        super().__init__()
        self._process = process
        self.went = self.moved = 0.0
        self.move = ""

    def send_line(self, line: str) -> None:
        """Write a line to the process."""
        self._process.send(line)
        if line == "go":
            self.went, self.move = time.perf_counter(), ""

    def receive(self, line: str) -> None:
        """Take a line from the process."""
        word, _, rest = line.partition(" ")
        if word == "move" and not self.move:
            self.moved, self.move = time.perf_counter(), rest.strip()
        if word == "feature" and not self.initialized:
            self._set_timer()
        self.pipe_data_received(1, line.encode() + b"\n")

    async def begin(self) -> None:
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

    async def pump(self) -> None:
        """Hand on what the process says; EngineDiedError at its end."""
        while True:
            self.receive(await self._process.read_line())


@dataclass
class XBoardEngine:
    """One program that speaks xboard's protocol."""

    command: str
    arguments: Sequence[str] = ()
    directory: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    start_limit: float = START_LIMIT
    ready_limit: float = READY_LIMIT
    quit_limit: float = QUIT_LIMIT
    chess960: bool = False
    log: IoLog | None = None
    state: State = State.NEW
    _process: EngineProcess | None = None
    _protocol: _Protocol | None = None
    _game: object = None

    @property
    def name(self) -> str:
        """What the engine calls itself, once started."""
        return self._protocol.id.get("name", "") if self._protocol else ""

    async def start(self) -> None:
        """Start the process and take its features."""
        if self.state is not State.NEW:
            raise EngineError(f"an engine is started once; this one is {self.state.value}")
        self.state = State.STARTING
        self._process = await EngineProcess.start(
            self.command,
            self.arguments,
            directory=self.directory,
            environment=self.environment,
            log=self.log,
        )
        self._protocol = _Protocol(self._process)
        await self._within(self.start_limit, "features", self._protocol.begin())
        self.state = State.IDLE

    async def configure(self, options: Mapping[str, str | int | float | bool]) -> None:
        """Set options by name (case does not count): `memory`, `cores`, and the engine's own."""
        protocol = self._idle()
        known = {name.lower(): name for name in protocol.options}
        chosen = {}
        for name, value in options.items():
            if name.lower() not in known:
                names = ", ".join(sorted(protocol.options)) or "none"
                raise EngineOptionError(f"{self.name} has no option {name}; it has: {names}")
            option = protocol.options[known[name.lower()]]
            try:
                chosen[option.name] = option.parse(
                    _flag(value) if option.type == "check" else str(value)
                )
            except (chess.engine.EngineError, ValueError) as error:
                raise EngineOptionError(f"option {option.name}: {error}") from None
        await self._within(self.ready_limit, "answer", protocol.configure(chosen))

    async def new_game(self) -> None:
        """Have the next position taken for one of another game."""
        protocol = self._idle()
        self._game = object()
        await self._within(self.ready_limit, "pong", protocol.ping())

    async def search(
        self,
        request: SearchRequest,
        limit: float,
        on_info: InfoCallback | None = None,
    ) -> Answer:
        """Search one position; raise EngineTimeoutError when `limit` seconds bring no move.

        An engine that resigns answers RESIGNATION.
        """
        protocol = self._idle()
        await self._within(self.ready_limit, "pong", protocol.ping())
        board = chess.Board(request.fen or chess.STARTING_FEN, chess960=self.chess960)
        for move in request.moves:
            board.push_uci(move)
        playing = protocol.play(
            board,
            _limit(request, self._game),
            game=self._game,
            info=chess.engine.INFO_BASIC | chess.engine.INFO_SCORE | chess.engine.INFO_PV,
        )
        self.state = State.SEARCHING
        try:
            result = await self._during(playing, limit)
        except TimeoutError:
            raise EngineTimeoutError(f"no move within {limit:.3g} s") from None
        except chess.engine.EngineError as error:
            if not protocol.move:
                raise EngineError(f"the engine says: {error}") from None
            # A move that cannot be played is for the referee to see.
            return Answer(protocol.move, None, None, protocol.moved - protocol.went)
        finally:
            if self.state is State.SEARCHING:
                self.state = State.IDLE
        ended = protocol.moved if protocol.move else time.perf_counter()
        text = board.uci(result.move) if result.move else ""
        return Answer(
            move=RESIGNATION if result.resigned else text,
            ponder=None,
            info=_info(result.info),
            elapsed=ended - protocol.went,
        )

    async def close(self) -> None:
        """End the process: politely, or by force after `quit_limit` seconds or a failure."""
        process, self._process = self._process, None
        failed = self.state is State.FAILED
        self.state = State.CLOSED
        if process is not None:
            await (process.kill() if failed else process.stop(self.quit_limit))

    def _idle(self) -> _Protocol:
        if self.state is not State.IDLE or self._protocol is None:
            raise EngineError(f"the engine is {self.state.value}, not idle")
        return self._protocol

    async def _within(self, limit: float, word: str, action: Coroutine[Any, Any, Found]) -> Found:
        """Do what the engine must always be able to do."""
        try:
            return await self._during(action, limit)
        except TimeoutError:
            self.state = State.FAILED
            raise EngineUnresponsiveError(f"no {word} within {limit:.3g} s") from None
        except chess.engine.EngineError as error:
            self.state = State.FAILED
            raise EngineError(f"the engine says: {error}") from None

    async def _during(self, action: Coroutine[Any, Any, Found], limit: float) -> Found:
        """Listen to the process while an action goes on; TimeoutError after `limit` seconds."""
        assert self._protocol is not None
        acting = asyncio.ensure_future(action)
        pumping = asyncio.ensure_future(self._protocol.pump())
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
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)

    async def _failure(self, error: BaseException | None) -> EngineError:
        """Return what ended the listening: the process's end, or words that make no sense."""
        assert self._process is not None
        self.state = State.FAILED
        if isinstance(error, EngineDiedError):
            return EngineDiedError(await self._process.describe_end())
        return EngineError(f"the engine does not keep to its protocol: {error}")


def _flag(value: str | float | bool) -> bool:
    return str(value).lower() in ("true", "1", "on", "yes")


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
