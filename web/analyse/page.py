"""The page on which positions and whole games are analysed.

A file is read by one request, what searches say comes over a channel: `look` has the position
searched that is on the board, `review` has the whole game judged.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from agent.border.user_code import describe
from protocols.analysis.protocol import Settings
from protocols.server.door import RefusedError
from protocols.tasks import cancel_all
from tournament.assessments import AssessmentFile
from tournament.chess_review import ChessScore, assess_chess, review_chess
from tournament.engine_settings import EngineProtocol, EngineSettings
from tournament.go_review import assess_go, review_go
from tournament.time_control import TimeControl
from tournament.values import SettingsError, encode
from web.analyse.looks import ChessLook, GoLooks, chess_protocol, go_search
from web.analyse.studies import (
    Study,
    StudyError,
    annotated,
    load,
    played_on,
    read_study,
    shown_review,
)
from web.answers import JsonAnswer
from web.channel import Channel, open_channel
from web.site import Site
from web.turnstile import Turnstile

# What a move of a game may take: nodes in chess, visits in Go.
NODES = {"chess": 60_000, "go": 150}
MOST_NODES = {"chess": 1_000_000, "go": 2_000}
# A whole game takes no more: others wait for it.
MOST_IN_ALL = {"chess": 60_000_000, "go": 60_000}
# Games that are judged at once, and files that are read; seconds between two reports.
AT_ONCE = 1
REPORT_EVERY = 0.5
_AT_ONCE = nullcontext()
# Beyond that a search counts as hung, in seconds: those of games with a clock come before it.
PATIENCE = 600.0


class AnalysePage:
    """Shows positions and games, and what searches say of them."""

    name = "analyse"
    shells = ("/analyse",)

    def __init__(self, site: Site) -> None:
        self.site = site
        self.go = GoLooks(site)
        self.reviewing = asyncio.Semaphore(AT_ONCE)
        self.reviews = Turnstile()  # so that nobody's many games keep another's one
        self._loading = asyncio.Semaphore(AT_ONCE)

    def routes(self) -> Sequence[BaseRoute]:
        """Return what the page asks for."""
        return (
            Route("/analyse/load", self._load, methods=["POST"]),
            Route("/analyse/move", self._move, methods=["POST"]),
            Route("/analyse/record", self._record, methods=["POST"]),
            WebSocketRoute("/analyse/channel", self._channel),
        )

    async def start(self) -> None:
        """Begin nothing: searches begin when they are asked for."""

    async def stop(self) -> None:
        """End the searches of Go; those of chess end with their channels."""
        await asyncio.to_thread(self.go.close)

    async def _load(self, request: Request) -> Response:
        self._expect_visitor(request)
        text = str((await _object(request)).get("text", ""))
        return await self._answer(request, lambda: {"games": load(text)}, self._loading)

    async def _move(self, request: Request) -> Response:
        self._expect_visitor(request)
        data = await _object(request)
        study, ply, move = data.get("study"), data.get("ply"), data.get("move")
        if not (isinstance(study, dict) and isinstance(ply, int) and isinstance(move, str)):
            raise HTTPException(400, "study, ply and move are needed")
        return await self._answer(request, lambda: played_on(study, max(0, ply), move))

    async def _record(self, request: Request) -> Response:
        """Answer with a game that was judged, as a file."""
        self._expect_visitor(request)
        data = await _object(request)
        return await self._answer(request, lambda: annotated(data), self._loading)

    async def _answer(
        self,
        request: Request,
        make: Callable[[], dict[str, Any]],
        among_all: AbstractAsyncContextManager[Any] = _AT_ONCE,
    ) -> Response:
        """Answer with what takes long to make; HTTPException where that cannot be.

        It is made in the visitor's turn, and then in a turn among all.
        """
        try:
            async with self.site.turnstile.turn(self.site.visitor(request)), among_all:
                return await asyncio.to_thread(lambda: JsonAnswer(make()))
        except StudyError as error:
            raise HTTPException(422, str(error)) from None

    def _expect_visitor(self, request: Request) -> None:
        if not self.site.owner(request.cookies):
            raise HTTPException(401, "sign in with your token")

    async def _channel(self, socket: WebSocket) -> None:
        async def serve(channel: Channel) -> None:
            analysis = AnalysisVisit(self, channel)
            channel.tell({"kind": "welcome"})  # by which a page that comes again asks again
            try:
                await channel.run(analysis.heard)
            finally:
                await asyncio.shield(analysis.close())

        await open_channel(socket, self.site, serve)


class AnalysisVisit:
    """What one page has searched, as long as it is open."""

    def __init__(self, page: AnalysePage, channel: Channel) -> None:
        self._page = page
        self._channel = channel
        self._chess: ChessLook | None = None
        self._go = ""
        self._review: asyncio.Task[None] | None = None
        self._doing: asyncio.Future[None] | None = None

    async def heard(self, message: dict[str, Any]) -> None:
        """Do what the page asks for; say why not where that cannot be."""
        kind = message.get("kind")
        try:
            if kind == "look":
                await self._look(message)
            elif kind == "stop":
                await self._beside(self._stop)
            elif kind == "review":
                await self._begin_review(message)
            elif kind == "cancel":
                await self._end_review()
            else:
                raise StudyError("look, stop, review or cancel is expected")
        except (StudyError, RefusedError) as error:
            self._channel.tell({"kind": "refused", "text": str(error)})

    async def close(self) -> None:
        """End all, also what a thread begins that goes on though the page is gone."""
        await self._end_review()
        if self._doing is not None:
            await asyncio.gather(self._doing, return_exceptions=True)
        await asyncio.to_thread(self._stop)
        if self._chess is not None:
            await asyncio.to_thread(self._chess.close)

    async def _beside(self, act: Callable[..., None], *arguments: Any) -> None:
        """Do something in a thread; it is done to its end though the page is gone meanwhile."""
        self._doing = asyncio.ensure_future(asyncio.to_thread(act, *arguments))
        await asyncio.shield(self._doing)

    async def _look(self, message: dict[str, Any]) -> None:
        study, ply, number = await self._study(message), message.get("ply"), message.get("look")
        most = len(study.moves)
        if not (isinstance(ply, int) and isinstance(number, int) and 0 <= ply <= most):
            raise StudyError("ply and look are numbers")
        await self._beside(self._search, number, study, ply)

    async def _study(self, message: dict[str, Any]) -> Study:
        """Return what is studied; a long game takes long to check."""
        study = message.get("study")
        if not isinstance(study, dict):
            raise StudyError("a study is needed")
        async with self._page.site.turnstile.turn(self._channel.visitor):
            return await asyncio.to_thread(read_study, study)

    def _search(self, number: int, study: Study, ply: int) -> None:
        if isinstance(study, ChessScore):
            if self._chess is None:
                self._chess = ChessLook(self._page.site, self._channel.tell)
            self._chess.look(number, study, ply)
        else:
            self._page.go.stop(self._go)
            self._go = self._page.go.look(number, study, ply, self._channel.tell)

    def _stop(self) -> None:
        self._page.go.stop(self._go)
        if self._chess is not None:
            self._chess.stop()

    async def _begin_review(self, message: dict[str, Any]) -> None:
        study = await self._study(message)
        game = "chess" if isinstance(study, ChessScore) else "go"
        nodes = message.get("nodes", NODES[game])
        if isinstance(nodes, bool) or not isinstance(nodes, int) or nodes < 1:
            raise StudyError("nodes is a number from 1")
        await self._end_review()
        await self._beside(self._stop)
        most = min(MOST_NODES[game], MOST_IN_ALL[game] // (len(study.moves) + 1))
        limits = TimeControl(nodes=min(nodes, most), patience=PATIENCE)
        self._review = asyncio.create_task(self._judge(study, limits))

    async def _end_review(self) -> None:
        task, self._review = self._review, None
        if task is not None:
            await cancel_all({task})

    async def _judge(self, study: Study, limits: TimeControl) -> None:
        site, known = self._page.site, AssessmentFile(None, "")
        at = 0

        def report(done: int) -> None:
            nonlocal at
            at = done

        async def keep_telling() -> None:
            told = 0
            while True:
                await asyncio.sleep(REPORT_EVERY)
                if at != told:
                    told = at
                    await self._tell_review(study, known, at)

        telling = asyncio.create_task(keep_telling())
        try:
            if self._page.reviewing.locked():
                self._channel.tell({"kind": "waiting"})
            async with self._page.reviews.turn(self._channel.visitor), self._page.reviewing:
                if isinstance(study, ChessScore):
                    own = EngineSettings("chess", "Kempelen", protocol=EngineProtocol.AGENT)
                    await assess_chess(
                        [study], own, limits, known, report=report,
                        own=lambda send: chess_protocol(site, send),
                    )  # fmt: skip
                else:
                    with go_search(site) as searching:
                        settings = Settings(searching=searching, turns=site.turns)
                        await assess_go([study], settings, limits, known, report=report)
            await cancel_all({telling})
            await self._tell_review(study, known, len(study.moves) + 1, limits)
        except (SettingsError, RefusedError) as error:
            self._channel.tell({"kind": "refused", "text": str(error)})
        except Exception as error:  # noqa: BLE001 - the page is told, and waits no longer
            site.log.note("failed", page="analyse", error=describe(error))
            self._channel.tell({"kind": "refused", "text": "the server failed; its log says how"})
        finally:
            await cancel_all({telling})

    async def _tell_review(
        self, study: Study, known: AssessmentFile, done: int, limits: TimeControl | None = None
    ) -> None:
        """Tell how far a game is judged; to write a long one takes long enough for a thread.

        limits: by which it was judged, once it is whole.
        """
        message = await asyncio.to_thread(_reviewed, study, known, done, limits)
        self._channel.tell(message)


def _reviewed(
    study: Study, known: AssessmentFile, done: int, limits: TimeControl | None
) -> dict[str, Any]:
    if isinstance(study, ChessScore):
        review = review_chess(study, known)
    else:
        review = review_go(study, known)
    message = {
        "kind": "review",
        "done": done,
        "total": len(study.moves) + 1,
        "finished": limits is not None,
        "start": review.start,
        "moves": encode(shown_review(review)),
        "tallies": encode(review.tallies),
    }
    if limits is not None:
        said = [known.get(known.key(study.position(ply))) for ply in range(len(study.moves) + 1)]
        if review.game == "go":
            message["owners"] = [_owners(each.owners if each else ()) for each in said]
        # With these the page has a file made of the game.
        message["nodes"] = limits.nodes
        message["said"] = [each and encode(dataclasses.replace(each, owners=())) for each in said]
    return message


def _owners(owners: Sequence[float]) -> str:
    """Return whose points are as a letter each, k of nobody: a long game's are many."""
    return "".join(chr(ord("k") + round(10 * owner)) for owner in owners)


async def _object(request: Request) -> dict[str, Any]:
    """Return the object of JSON in a request's body, an empty one if there is none."""
    try:
        data = await request.json()
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def make(site: Site) -> AnalysePage:
    """Return the page."""
    return AnalysePage(site)
