"""Our own chess engine in this process, with the interface of the clients for engine programs."""

import asyncio
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from agent.evaluation import EvaluationError
from agent.io.sanitize import sanitize_line, sanitize_name
from agent.limits import Info, Limits, Progress, Result
from agent.threads.serial_executor import Job
from protocols.client.engine import (
    READY_LIMIT,
    START_LIMIT,
    EngineOptionError,
    EngineTimeoutError,
    EngineUnresponsiveError,
    Settings,
)
from protocols.client.own_engine import is_option_error, is_search_error
from protocols.client.process import EngineError, IoLog
from protocols.client.uci import (
    INFO_INTERVAL,
    InfoCallback,
    PlayResult,
    SearchRequest,
    check_setting,
    parse_option,
    setoption_line,
)
from protocols.session_context import STANDALONE, SessionContext
from protocols.uci.chess_session import WHITE_POINTS, ChessSession
from protocols.uci.engine_options import OPTIONS
from protocols.uci.formatting import bestmove_line, info_line, info_string
from protocols.uci.options import find_option
from protocols.uci.parsing import PositionCommand, UciError
from protocols.uci.position import CurrentPosition

if TYPE_CHECKING:
    import chess

CLOSE_LIMIT = 2.0
# Maximum number of messages that are checked for errors.
MAX_KEPT_MESSAGES = 100

Answer = TypeVar("Answer")


class InProcessChessClient:
    """A client that calls a chess session directly, but logs the calls as UCI text.

    The client belongs to the event loop that starts it. The session's events arrive in the threads
    of its agent. With `unless_compiling`, it does not wait for a kernel that must be compiled.
    """

    def __init__(
        self,
        name: str,
        settings: Settings,
        session_context: SessionContext = STANDALONE,
        start_limit: float = START_LIMIT,
        ready_limit: float = READY_LIMIT,
        log: IoLog | None = None,
        *,
        unless_compiling: bool = False,
    ) -> None:
        self.name = sanitize_name(name)
        self._settings = settings
        self._start_limit = start_limit
        self._ready_limit = ready_limit
        self._log = log
        self._unless_compiling = unless_compiling
        self._session = session = ChessSession(self, OPTIONS, session_context=session_context)
        declared = [option.declaration_line() for option in session.options if not option.forbidden]
        self.options = {o.name.lower(): o for o in map(parse_option, declared) if o is not None}
        self._position = CurrentPosition()
        self._messages: deque[str] = deque(maxlen=MAX_KEPT_MESSAGES)
        self._answers: deque[Future[tuple[Result[chess.Move], float]]] = deque()
        self._on_info: InfoCallback | None = None
        self._last_info_time = 0.0

    @property
    def compiling(self) -> bool:
        return self._session.engine.compiling

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._session.engine.start()
        await self._ready(self._start_limit)
        await self.configure(self._settings)

    async def configure(self, options: Settings) -> None:
        """Set options by case-insensitive name, or raise `EngineOptionError`."""
        self._messages.clear()
        for name, value in options.items():
            declared, text = check_setting(self.options, self.name, name, value)
            self._write(">", setoption_line(declared, text))
            option = find_option(self._session.options, declared.name)
            try:
                option.on_change(self._session, option.parse_permitted(text)[0])
            except (UciError, EvaluationError) as error:
                raise EngineOptionError(self._printable(str(error))) from None
        await self._ready(self._ready_limit)
        if errors := list(filter(is_option_error, self._messages)):
            raise EngineOptionError(errors[0])

    async def set_opponent(self, name: str) -> None:
        await self.configure({"UCI_Opponent": f"none none computer {name}"})

    async def report_result(self, result: str, reason: str, *, forfeit: bool) -> None:
        by_forfeit = forfeit and result in WHITE_POINTS
        await self.configure({"GameResult": f"{result} forfeit" if by_forfeit else result})

    async def new_game(self) -> None:
        self._write(">", "ucinewgame")
        self._session.new_game()
        await self._ready(self._ready_limit)

    async def search(
        self, request: SearchRequest, limit: float, on_info: InfoCallback | None = None
    ) -> PlayResult:
        """Return the engine's answer, or raise `EngineTimeoutError` after `limit` seconds.

        Raise `EngineError` if the search fails.
        """
        session, position = self._session, PositionCommand(request.fen, tuple(request.moves))
        try:
            self._position.set(position, session.rules)
        except UciError as error:
            raise EngineError(str(error)) from None
        board = self._position.board.copy()
        clocks = (request.white, request.black)
        own, other = clocks if board.turn else clocks[::-1]
        session.set_opponent_clock(None if other is None else other.time)
        limits: Limits[chess.Move] = Limits(
            request.depth,
            request.nodes,
            movetime=request.movetime,
            clock=own,
            moves_to_go=request.moves_to_go,
        )
        if self._log:
            self._write(">", request.position_line())
            self._write(">", request.go_line())
        self._messages.clear()
        answer: Future[tuple[Result[chess.Move], float]] = new_answer()
        self._answers.append(answer)
        started = time.perf_counter()
        self._on_info, self._last_info_time = on_info, started
        session.agent.go(board, limits, session.multipv)
        try:
            result, arrived = await wait_for(answer, limit, "bestmove", EngineTimeoutError)
        finally:
            if not answer.done():
                session.agent.stop()
        if errors := list(filter(is_search_error, self._messages)):
            raise EngineError(errors[0])
        return PlayResult(
            "(none)" if result.move is None else result.move.uci(),
            None if result.ponder is None else result.ponder.uci(),
            None if result.info is None else _with_text_moves(result.info),
            arrived - started,
        )

    async def close(self) -> None:
        await asyncio.to_thread(self._session.close, CLOSE_LIMIT)

    # Events of the session.

    def info(self, info: Info["chess.Move"]) -> None:
        if self._log:
            self._write("<", info_line(info))
        now = time.perf_counter()
        if self._on_info and info.multipv == 1 and now - self._last_info_time >= INFO_INTERVAL:
            self._last_info_time = now
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._on_info, _with_text_moves(info))

    def progress(self, progress: Progress["chess.Move"], seconds: float) -> None:
        """Ignore the progress."""

    def error(self, message: str) -> None:
        self.report(message)

    def report(self, message: str) -> None:
        message = self._printable(message)
        self._messages.append(message)
        self._write("<", info_string(message))

    def result(self, result: Result["chess.Move"]) -> None:
        if self._log:
            self._write("<", bestmove_line(result))
        self._answers.popleft().set_result((result, time.perf_counter()))
        self._session.learning.flush()
        self._session.opponent.record_move(result)

    async def _ready(self, limit: float) -> None:
        """Wait until all changes are made and the kernel is loaded, unless a search is running."""
        if self._session.agent.busy:
            return
        ready: Future[None] = new_answer()

        def prepare(job: Job) -> None:
            try:
                self._session.prepare(job, unless_compiling=self._unless_compiling)
            finally:
                ready.set_result(None)

        self._session.agent.submit(prepare)
        await wait_for(ready, limit, "readyok", EngineUnresponsiveError)

    def _printable(self, message: str) -> str:
        return sanitize_line(self._session.permissions.redact(message))

    def _write(self, direction: str, line: str) -> None:
        if self._log:
            self._log.write(0, direction, line)


def new_answer() -> Future[Any]:
    """Return a future that an agent's thread can set even after the wait for it was cancelled."""
    answer: Future[Any] = Future()
    answer.set_running_or_notify_cancel()
    return answer


async def wait_for(
    answer: Future[Answer], limit: float, name: str, error: type[EngineTimeoutError]
) -> Answer:
    """Wait for an answer from an agent's thread, or raise `error` after `limit` seconds."""
    try:
        async with asyncio.timeout(limit):
            return await asyncio.wrap_future(answer)
    except TimeoutError:
        raise error("no {} within {:.3g} s", name, limit) from None


def _with_text_moves(info: Info["chess.Move"]) -> Info[str]:
    return replace(cast(Info[str], info), pv=tuple(move.uci() for move in info.pv))
