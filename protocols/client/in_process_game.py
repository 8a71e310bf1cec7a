"""Our own engine for any game but chess in this process, with the interface of `GtpClient`."""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import Any, cast

from agent.agent import describe
from agent.game import CHANCE, format_line
from agent.game_clock import TimeSystem
from agent.limits import Info
from agent.threads.serial_executor import Job
from protocols.client.engine import START_LIMIT, EngineTimeoutError, EngineUnresponsiveError
from protocols.client.in_process import CLOSE_LIMIT, Answer, new_answer, wait_for
from protocols.client.process import EngineError
from protocols.client.uci import InfoCallback, PlayResult, SearchRequest
from protocols.gtp.board import GtpBoard
from protocols.gtp.messages import GtpError, ParsedCommand
from protocols.gtp.session import GtpSession, Settings
from protocols.session_context import SessionContext

GENMOVE = ParsedCommand("", "genmove", "")
MAX_PV_LENGTH = 8


class InProcessGameClient:
    """A client that calls a GTP session directly, in the thread of its agent.

    Each game begins with handicap stones at the vertices `handicap`, which must be empty for games
    other than Go, or with the stones of `position`, whose second part is the player to move. A
    `SearchRequest` must have clocks or a time per move. Other limits are ignored.
    """

    def __init__(
        self,
        settings: Settings,
        session_context: SessionContext,
        report: Callable[[str], None],
        handicap: Sequence[str] = (),
        position: tuple[Sequence[tuple[int, str]], int] | None = None,
    ) -> None:
        self._session = GtpSession("", "", lambda text: None, report, settings, session_context)
        self._handicap = handicap
        self._position = position

    async def start(self) -> None:
        self._session.backend.start()

    async def new_game(self) -> None:
        await self._run(self._new_game, START_LIMIT, "answer", EngineUnresponsiveError)

    async def search(
        self, request: SearchRequest, limit: float, on_info: InfoCallback | None = None
    ) -> PlayResult:
        """Return the engine's move, or raise `EngineTimeoutError` after `limit` seconds."""
        started = time.perf_counter()
        genmove = partial(self._genmove, request)
        move, info, arrived = await self._run(genmove, limit, "move", EngineTimeoutError)
        return PlayResult(move, None, info, arrived - started)

    async def close(self) -> None:
        await asyncio.to_thread(self._session.close, CLOSE_LIMIT)

    async def _run(
        self, work: Callable[[], Answer], limit: float, name: str, error: type[EngineTimeoutError]
    ) -> Answer:
        answer: Future[Answer] = new_answer()
        job = self._session.agent.submit(partial(self._answer, work, answer), long_running=True)
        try:
            return await wait_for(answer, limit, name, error)
        finally:
            job.stop.set()

    # In the agent's thread.

    def _answer(self, work: Callable[[], Answer], answer: Future[Answer], job: Job) -> None:
        self._session.begin_command(GENMOVE, job)
        try:
            answer.set_result(work())
        except GtpError as error:
            answer.set_exception(EngineError(str(error)))
        except BaseException as error:  # noqa: BLE001 - the code of a user's game may exit
            answer.set_exception(EngineError(describe(error)))
        self._session.end_command()

    def _new_game(self) -> None:
        self._session.board.clear()
        self._session.new_game()
        if self._handicap:
            self._session.go_board.set_free_handicap(list(self._handicap))
        if self._position is not None:
            stones, first = self._position
            self._session.go_board.set_position(stones)
            self._session.go_board.set_player_to_move(first)

    def _genmove(self, request: SearchRequest) -> tuple[str, Info[str] | None, float]:
        session, player, board = self._session, request.mover, self._session.board
        if list(request.moves[: len(board.moves)]) != board.moves:
            self._new_game()
        start = len(board.moves)
        board.play_all(zip(request.movers[start:], request.moves[start:], strict=True))
        board.require_game_length()
        clock = (request.white, request.black)[request.side]
        session.start_clocks(
            TimeSystem(0.0, period=request.movetime or 0.0, stones=1)
            if clock is None
            else TimeSystem(clock.time, increment=clock.increment)
        )
        result = session.think(player)
        info = None if result.info is None else _with_text_moves(result.info, board)
        return session.play_result(player, result).lower(), info, time.perf_counter()


def _with_text_moves(info: Info[Any], board: GtpBoard) -> Info[str]:
    """Return a report with the first moves of its line as text, up to a chance event."""
    game = board.game
    line = takewhile(
        lambda _: game.outcome() is None and game.turn != CHANCE, info.pv[:MAX_PV_LENGTH]
    )
    return cast("Info[str]", replace(info, pv=tuple(format_line(game, line))))
