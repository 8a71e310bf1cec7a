"""The page to play on: the form, the games that are kept, and a channel to each."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from web.answers import JsonAnswer
from web.channel import Channel, open_channel
from web.play.archive import Archive, KeptGame, as_file
from web.play.boards import PlayBoard, at_ply
from web.play.setup import SetupError, choices, read_setup
from web.play.sitting import Sitting
from web.site import Site

# So many games are in memory; those at which nobody looks leave it first.
MOST_SITTINGS = 1000
# So many games of one visitor are kept.
MOST_KEPT = 20_000
Done = TypeVar("Done")
LOST = "this game cannot be played here any more"


class PlayPage:
    """Shows games, and plays them."""

    name = "play"
    shells = ("/play", "/play/{game:str}")

    def __init__(self, site: Site) -> None:
        self._site = site
        self._archive = Archive(site.store)
        self._sittings: dict[str, Sitting] = {}

    def routes(self) -> Sequence[BaseRoute]:
        """Return what else is answered."""
        return (
            Route("/games", self._games, methods=["GET"]),
            Route("/games", self._begin, methods=["POST"]),
            Route("/games/choices", self._choices),
            Route("/games/{game:str}/at/{ply:number}", self._at),
            Route("/games/{game:str}/record", self._record),
            WebSocketRoute("/games/{game:str}/channel", self._channel),
        )

    async def start(self) -> None:
        """Begin nothing: a game goes on when its page comes again."""

    async def stop(self) -> None:
        """End all searches."""
        await asyncio.gather(*(sitting.rest() for sitting in self._sittings.values()))

    async def _choices(self, request: Request) -> Response:
        self._owner(request)
        return JsonAnswer(await self._done(request, choices, self._site.offers))

    async def _games(self, request: Request) -> Response:
        """List a visitor's games."""
        owner = self._owner(request)
        games = await self._done(request, self._archive.of, owner)
        return JsonAnswer(
            [
                {
                    "id": game.id,
                    "game": game.setup.game,
                    "opponent": game.setup.opponent_name,
                    "moves": len(game.moves),
                    "result": game.verdict.result if game.verdict else "",
                    "changed": game.changed,
                }
                for game in games
            ]
        )

    async def _begin(self, request: Request) -> Response:
        owner = self._owner(request)
        try:
            form = await request.json()
        except (ValueError, RecursionError):
            form = None
        if not isinstance(form, dict):
            raise HTTPException(400, "an object of JSON is expected")
        if self._archive.count(owner) >= MOST_KEPT:
            raise HTTPException(429, f"{MOST_KEPT} games are kept already; no more are")
        try:
            setup = await self._done(request, read_setup, form, self._site.offers)
            game = KeptGame(secrets.token_urlsafe(9), owner, setup)
            sitting = Sitting(game, self._site, self._archive)
        except (SetupError, ValueError) as error:
            raise HTTPException(400, str(error)) from None
        game.moves = list(sitting.board.moves)
        self._archive.keep(game)
        await self._make_room()
        self._sittings[game.id] = sitting
        return JsonAnswer({"id": game.id}, 201)

    async def _at(self, request: Request) -> Response:
        """Show a game as it stood after some moves."""
        game = self._kept(request)
        moves = game.moves[: request.path_params["ply"]]

        def shown() -> dict[str, Any]:
            board = self._board(game, moves)
            return {"ply": len(board.moves), "board": board.view(), "mover": board.mover}

        return JsonAnswer(await self._done(request, shown))

    async def _record(self, request: Request) -> Response:
        game = self._kept(request)
        board = await self._done(request, self._board, game, game.moves)
        suffix, kind, text = as_file(game, board)
        name = f"kempelen-{game.id}.{suffix}"
        return Response(
            text, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
        )

    async def _done(self, request: Request, do: Callable[..., Done], *arguments: Any) -> Done:
        """Have something done that takes long, in the visitor's turn."""
        async with self._site.turnstile.turn(self._site.visitor(request)):
            return await asyncio.to_thread(do, *arguments)

    async def _channel(self, socket: WebSocket) -> None:
        async def serve(channel: Channel) -> None:
            name = socket.path_params["game"]
            try:
                sitting = await self._sitting(name)
            except ValueError as error:
                self._note_lost(name, error)
                await channel.refuse(LOST)
                return
            if sitting is None:
                await channel.refuse("there is no such game")
            else:
                await sitting.attend(channel)

        await open_channel(socket, self._site, serve)

    async def _sitting(self, name: str) -> Sitting | None:
        """Return a game that is played, or go on with one that was kept."""
        if name not in self._sittings:
            kept = self._archive.find(name)
            if kept is None:
                return None
            await self._make_room()
            # All its moves are made again, which of a long game takes long.
            made = await asyncio.to_thread(Sitting, kept, self._site, self._archive)
            self._sittings.setdefault(name, made)  # unless somebody else came meanwhile
        return self._sittings[name]

    async def _make_room(self) -> None:
        if len(self._sittings) >= MOST_SITTINGS:
            for name in [name for name, each in self._sittings.items() if each.idle]:
                del self._sittings[name]

    def _board(self, game: KeptGame, moves: Sequence[str]) -> PlayBoard:
        """Return the board of a game after moves; HTTPException if it can be played no more."""
        try:
            return at_ply(game.setup, moves)
        except ValueError as error:
            self._note_lost(game.id, error)
            raise HTTPException(404, LOST) from None

    def _note_lost(self, game: str, error: ValueError) -> None:
        """Take note of a game whose own file is gone, or is another one."""
        self._site.log.note("failed", game=game, error=str(error))

    def _kept(self, request: Request) -> KeptGame:
        self._owner(request)
        name = request.path_params["game"]
        sitting = self._sittings.get(name)
        game = self._archive.find(name) if sitting is None else sitting.kept
        if game is None:
            raise HTTPException(404, "there is no such game")
        return game

    def _owner(self, request: Request) -> str:
        owner = self._site.owner(request.cookies)
        if not owner:
            raise HTTPException(401, "sign in with your token")
        return owner


def make(site: Site) -> PlayPage:
    """Return the page."""
    return PlayPage(site)
