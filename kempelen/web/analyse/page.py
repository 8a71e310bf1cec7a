"""The page for analysing positions and games.

Files are read through HTTP requests. Search results are sent through a WebSocket channel.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from agent.games.variants import STANDARD
from agent.io.read_report import ReadReport
from agent.io.user_code import describe
from kempelen.console.settings_codec import SettingsError, encode
from kempelen.console.translation import translate
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.time_control import TimeControl
from kempelen.match.review.analysis_file import AnalysisFile
from kempelen.match.review.board_review import ParsedBoardGame, analyse_board_game
from kempelen.match.review.chess_review import ParsedChessGame, analyse_chess
from kempelen.match.review.go_review import ParsedGoGame, analyse_go
from kempelen.match.review.move_annotation import MoveQuality, ReviewedMove
from kempelen.match.review.parsed_game import VERIFIED_QUALITIES
from kempelen.web.analyse.game_analysis import (
    AnalysedGame,
    AnalysisError,
    add_move,
    annotate,
    describe_position,
    load_games,
    load_position,
    parse_game,
    read_file,
)
from kempelen.web.analyse.live_analysis import (
    BOARD_MEGABYTES,
    MAX_EFFORT,
    MAX_LINES,
    BoardAnalysis,
    ChessAnalysis,
    GoAnalyses,
    Look,
    search_resources,
)
from kempelen.web.channel import Channel
from kempelen.web.layout import request_language
from kempelen.web.pages import NO_LIMIT, Page, run_while_connected
from kempelen.web.responses import AsciiJsonResponse, json_object
from kempelen.web.site_context import SiteContext
from kempelen.web.visitor_locks import VisitorLocks
from protocols.katago_analysis.protocol import Settings
from protocols.server.admission import RejectedError
from protocols.tasks import cancel_all

# Allowed nodes (or visits in Go) per move of a review.
DEFAULT_NODES = {ParsedChessGame: 150_000, ParsedGoGame: 150, ParsedBoardGame: 5_000}
MAX_NODES = {ParsedChessGame: 1_000_000, ParsedGoGame: 2_000, ParsedBoardGame: 50_000}
# Maximum nodes or visits of a whole review, because other visitors wait for it.
MAX_TOTAL_NODES = {ParsedChessGame: 60_000_000, ParsedGoGame: 60_000, ParsedBoardGame: 2_000_000}
# Maximum number of concurrent reviews, and of files being read; seconds between two reports.
MAX_CONCURRENT = 1
REPORT_INTERVAL_S = 0.5
# A search that takes longer counts as hung.
SEARCH_TIMEOUT_S = 600.0


class AnalysePage(Page):
    """The routes of the analysis page, and the searches of its visitors."""

    name = "analyse"
    paths = ("/analyse",)

    def __init__(self, site: SiteContext) -> None:
        super().__init__(site)
        self._offers = site.resources
        self.go = GoAnalyses(site)
        self.review_limit = asyncio.Semaphore(MAX_CONCURRENT)
        self.review_locks = VisitorLocks()  # one review per visitor at a time
        self._load_limit = asyncio.Semaphore(MAX_CONCURRENT)
        # Judging one move is quick, so it does not wait for reviews.
        self._judge_limit = asyncio.Semaphore(MAX_CONCURRENT)
        self._judge_locks = VisitorLocks()

    def routes(self) -> Sequence[BaseRoute]:
        return (
            self.route("/analyse/load", self._load, "POST"),
            self.route("/analyse/move", self._move, "POST"),
            self.route("/analyse/judge", self._judge, "POST"),
            self.route("/analyse/position", self._position, "POST"),
            self.route("/analyse/record", self._record, "POST"),
            self.channel_route("/analyse/channel", self._serve),
        )

    async def stop(self) -> None:
        """Stop the Go searches. Chess searches stop when their channels close."""
        await asyncio.to_thread(self.go.close)

    async def _load(self, request: Request) -> Response:
        data = await json_object(request) or {}
        language = request_language(request)

        def load() -> dict[str, Any]:
            report = ReadReport()
            if "position" in data:
                game, position = str(data.get("board")), str(data["position"])
                return {"games": [load_position(game, position, self._offers)], "skipped": ""}
            text = read_file(str(data["file"])) if "file" in data else str(data.get("text", ""))
            games = load_games(text, report, self._offers, data.get("variant") or STANDARD)
            return {"games": games, "skipped": translate(report.message(), language)}

        return await self._answer(request, load, self._load_limit)

    async def _move(self, request: Request) -> Response:
        study, ply, move = await _read_move(request)
        return await self._answer(request, lambda: add_move(study, ply, move, self._offers))

    async def _judge(self, request: Request) -> Response:
        """Play a move, and classify it as the review of a game does."""
        study, ply, move = await _read_move(request)

        def play() -> tuple[dict[str, Any], AnalysedGame]:
            game = add_move(study, ply, move, self._offers)
            return game["positions"][-1], parse_game(game, self._offers)

        async def search(game: AnalysedGame) -> None:
            limits = TimeControl(nodes=DEFAULT_NODES[type(game)], patience=SEARCH_TIMEOUT_S)
            lock = self._judge_locks.lock(self.site.client_key(request))
            async with lock, self._judge_limit:
                await self.review(game, limits, known, since=len(game.moves) - 1)

        known = AnalysisFile(None, "")
        try:
            position, played = await self.run_in_thread(request, play)
            await run_while_connected(request, search(played))
        except (AnalysisError, SettingsError) as error:
            raise HTTPException(422, str(error)) from None
        judged = await asyncio.to_thread(lambda: played.review(known).moves[-1])
        return AsciiJsonResponse({"position": position, **encode(_move_to_json(judged))})

    async def review(
        self,
        study: AnalysedGame,
        limits: TimeControl,
        known: AnalysisFile,
        *,
        since: int = 0,
        report: Callable[[int], None] = lambda done: None,
    ) -> None:
        """Search the positions of a game from the ply `since`. See `analyse_chess`."""
        site = self.site
        if isinstance(study, ParsedChessGame):
            own = EngineSettings("chess", "Kempelen", protocol=EngineProtocol.AGENT)
            context = site.session_context
            await analyse_chess(
                [study], own, limits, known, since=since, report=report, session_context=context
            )
            return
        if isinstance(study, ParsedGoGame):
            with search_resources(site) as searching:
                settings = Settings(search_settings=searching, scheduler=site.scheduler)
                await analyse_go([study], settings, limits, known, since=since, report=report)
            return
        with search_resources(site, megabytes=BOARD_MEGABYTES) as searching:
            await analyse_board_game(
                study,
                searching.search_config,
                limits,
                known,
                since=since,
                report=report,
                scheduler=site.scheduler,
            )

    async def _position(self, request: Request) -> Response:
        data = await json_object(request) or {}
        language = request_language(request)
        return await self._answer(request, lambda: describe_position(data, language, self._offers))

    async def _record(self, request: Request) -> Response:
        data = await json_object(request) or {}
        return await self._answer(request, lambda: annotate(data, self._offers), self._load_limit)

    async def _answer(
        self,
        request: Request,
        make: Callable[[], dict[str, Any]],
        limiter: AbstractAsyncContextManager[Any] = NO_LIMIT,
    ) -> Response:
        """Run a slow request in a thread, one per visitor at a time.

        The `limiter` is shared by all visitors. Raise HTTPException for invalid input.
        """
        try:
            return await self.run_in_thread(
                request, lambda: AsciiJsonResponse(make()), limiter=limiter
            )
        except AnalysisError as error:
            raise HTTPException(422, str(error)) from None

    async def _serve(self, channel: Channel) -> None:
        analysis = AnalysisSession(self, channel)
        channel.send({"kind": "welcome"})  # tells a reconnected page to repeat its requests
        try:
            await channel.run(analysis.on_message)
        finally:
            await asyncio.shield(analysis.close())


async def _read_move(request: Request) -> tuple[dict[str, Any], int, str]:
    """Return the game, the ply and the move in a request. Raise HTTPException if one is missing."""
    data = await json_object(request) or {}
    study, ply, move = data.get("study"), data.get("ply"), data.get("move")
    if not (isinstance(study, dict) and isinstance(ply, int) and isinstance(move, str)):
        raise HTTPException(400, "missing study, ply or move")
    return study, max(0, ply), move


class AnalysisSession:
    """The searches of one open page."""

    def __init__(self, page: AnalysePage, channel: Channel) -> None:
        self._page = page
        self._channel = channel
        self._chess: ChessAnalysis | None = None
        self._board: BoardAnalysis | None = None
        self._go = ""
        self._review: asyncio.Task[None] | None = None
        self._pending: asyncio.Future[None] | None = None

    async def on_message(self, message: dict[str, Any]) -> None:
        """Handle a message from the page. Errors are sent to the page."""
        kind = message.get("kind")
        try:
            if kind == "look":
                await self._look(message)
            elif kind == "stop":
                await self._run_in_thread(self._stop)
            elif kind == "review":
                await self._start_review(message)
            elif kind == "cancel":
                await self._cancel_review()
            else:
                raise AnalysisError("kind: must be look, stop, review or cancel")
        except (AnalysisError, RejectedError) as error:
            self._channel.send({"kind": "refused", "text": str(error)})

    async def close(self) -> None:
        """Stop all searches, including a search that is still being started."""
        await self._cancel_review()
        if self._pending is not None:
            await asyncio.gather(self._pending, return_exceptions=True)
        await asyncio.to_thread(self._stop)
        for analysis in (self._chess, self._board):
            if analysis is not None:
                await asyncio.to_thread(analysis.close)

    async def _run_in_thread(self, act: Callable[..., None], *arguments: Any) -> None:
        """Run a function in a thread. It runs to its end even if the page disconnects."""
        self._pending = asyncio.ensure_future(asyncio.to_thread(act, *arguments))
        await asyncio.shield(self._pending)

    async def _look(self, message: dict[str, Any]) -> None:
        study = await self._study(message)
        names = {"number": "look", "ply": "ply", "lines": "lines", "effort": "effort"}
        numbers = {name: message[key] for name, key in names.items() if key in message}
        look = Look(**{"number": -1, "ply": -1, **numbers}, threat=message.get("threat") is True)
        if not (
            all(type(number) is int for number in numbers.values())
            and {"number", "ply"} <= numbers.keys()
            and 0 <= look.ply <= len(study.moves)
            and 1 <= look.lines <= MAX_LINES
            and 0 <= look.effort <= MAX_EFFORT
        ):
            raise AnalysisError("ply, look, lines, effort: must be valid numbers")
        await self._run_in_thread(self._search, look, study)

    async def _study(self, message: dict[str, Any]) -> AnalysedGame:
        """Parse the game in a message. A thread does this, because long games are slow to parse."""
        study = message.get("study")
        if not isinstance(study, dict):
            raise AnalysisError("missing study")
        async with self._page.site.visitor_locks.lock(self._channel.visitor):
            return await asyncio.to_thread(parse_game, study, self._page.site.resources)

    def _search(self, look: Look, study: AnalysedGame) -> None:
        self._stop()  # the search may be for another game
        if isinstance(study, ParsedChessGame):
            if self._chess is None:
                self._chess = ChessAnalysis(self._page.site, self._channel.send)
            self._chess.analyse(look, study)
        elif isinstance(study, ParsedGoGame):
            self._go = self._page.go.analyse(look, study, self._channel.send)
        else:
            if self._board is not None and not self._board.suits(study):
                self._board.close()
                self._board = None
            if self._board is None:
                self._board = BoardAnalysis(self._page.site, self._channel.send, study)
            self._board.analyse(look, study)

    def _stop(self) -> None:
        self._page.go.stop(self._go)
        for analysis in (self._chess, self._board):
            if analysis is not None:
                analysis.stop()

    async def _start_review(self, message: dict[str, Any]) -> None:
        study = await self._study(message)
        kind = type(study)
        nodes = message.get("nodes", DEFAULT_NODES[kind])
        if isinstance(nodes, bool) or not isinstance(nodes, int) or nodes < 1:
            raise AnalysisError("nodes: must be at least 1")
        await self._cancel_review()
        await self._run_in_thread(self._stop)
        max_nodes = min(MAX_NODES[kind], MAX_TOTAL_NODES[kind] // len(study.plies))
        limits = TimeControl(nodes=min(nodes, max_nodes), patience=SEARCH_TIMEOUT_S)
        self._review = asyncio.create_task(self._run_review(study, limits))

    async def _cancel_review(self) -> None:
        task, self._review = self._review, None
        if task is not None:
            await cancel_all({task})

    async def _run_review(self, study: AnalysedGame, limits: TimeControl) -> None:
        known = AnalysisFile(None, "")
        positions_done = 0

        def report(done: int) -> None:
            nonlocal positions_done
            positions_done = done

        async def send_progress() -> None:
            sent = 0
            while True:
                await asyncio.sleep(REPORT_INTERVAL_S)
                if positions_done != sent:
                    sent = positions_done
                    await self._send_review(study, known, positions_done)

        progress = asyncio.create_task(send_progress())
        try:
            if self._page.review_limit.locked():
                self._channel.send({"kind": "waiting"})
            async with self._page.review_locks.lock(self._channel.visitor), self._page.review_limit:
                await self._page.review(study, limits, known, report=report)
            await cancel_all({progress})
            await self._send_review(study, known, len(study.plies), limits)
        except (SettingsError, RejectedError) as error:
            self._channel.send({"kind": "refused", "text": str(error)})
        except Exception as error:  # noqa: BLE001 - the page must not wait forever
            self._page.site.log.write_limited("failed", page="analyse", error=describe(error))
            text = "internal server error; see the server log"
            self._channel.send({"kind": "refused", "text": text})
        finally:
            await cancel_all({progress})

    async def _send_review(
        self, study: AnalysedGame, known: AnalysisFile, done: int, limits: TimeControl | None = None
    ) -> None:
        """Send the state of a review. `limits` is None until the review is complete."""
        message = await asyncio.to_thread(_review_message, study, known, done, limits)
        self._channel.send(message)


def _review_message(
    study: AnalysedGame, known: AnalysisFile, done: int, limits: TimeControl | None
) -> dict[str, Any]:
    review = study.review(known)
    moves = review.moves
    if limits is None:  # mistakes and blunders are shown when they are verified
        moves = tuple(
            dataclasses.replace(move, grade=MoveQuality.GOOD)
            if move.grade in VERIFIED_QUALITIES
            else move
            for move in moves
        )
    message = {
        "kind": "review",
        "done": done,
        "total": len(study.plies),
        "finished": limits is not None,
        "start": review.start,
        "moves": encode(list(map(_move_to_json, moves))),
        "tallies": encode(review.tallies if limits is not None else ()),
    }
    if limits is not None:
        said = list(map(known.get, study.keys(known)))
        if review.game == "go":
            message["owners"] = [_encode_ownership(e.owners if e else ()) for e in said]
        # The page sends these evaluations back to export the game as a file.
        message["nodes"] = limits.nodes
        message["said"] = [e and encode(dataclasses.replace(e, owners=())) for e in said]
    return message


def _move_to_json(move: ReviewedMove) -> dict[str, Any]:
    names = ("move", "best", "line", "expected", "cp", "mate", "lead", "loss", "grade", "player")
    return {name: getattr(move, name) for name in names}


def _encode_ownership(owners: Sequence[float]) -> str:
    """Encode the ownership of each point as a letter from a to u. Neutral points are k."""
    return "".join(chr(ord("k") + round(10 * owner)) for owner in owners)
