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

from kempelen.web.channel import Channel, serve_channel
from kempelen.web.play.archive import Archive, SavedGame, export_game
from kempelen.web.play.boards import PlayedGame, replay_game
from kempelen.web.play.game_session import GameSession
from kempelen.web.play.setup import SetupError, form_choices, parse_setup
from kempelen.web.responses import AsciiJsonResponse
from kempelen.web.site_context import SiteContext

# Maximum number of games in memory. Games without viewers are removed first.
MAX_SESSIONS = 1000
# Maximum number of saved games per visitor.
MAX_SAVED_GAMES = 20_000
Result = TypeVar("Result")
UNPLAYABLE_MESSAGE = "this game is no longer available"


class PlayPage:
    """The page for playing, with a form for new games, the saved games, and a channel per game."""

    name = "play"
    paths = ("/play", "/play/{game:str}")

    def __init__(self, site: SiteContext) -> None:
        self._site = site
        self._archive = Archive(site.database)
        self._sessions: dict[str, GameSession] = {}

    def routes(self) -> Sequence[BaseRoute]:
        return (
            Route("/games", self._games, methods=["GET"]),
            Route("/games", self._create_game, methods=["POST"]),
            Route("/games/choices", self._choices),
            Route("/games/{game:str}/at/{ply:number}", self._position_at),
            Route("/games/{game:str}/record", self._record),
            WebSocketRoute("/games/{game:str}/channel", self._channel),
        )

    async def start(self) -> None:
        """Do nothing, because a game resumes when its page reconnects."""

    async def stop(self) -> None:
        await asyncio.gather(*(session.suspend() for session in self._sessions.values()))

    async def _choices(self, request: Request) -> Response:
        self._require_owner(request)
        return AsciiJsonResponse(
            await self._run_in_thread(request, form_choices, self._site.resources)
        )

    async def _games(self, request: Request) -> Response:
        owner = self._require_owner(request)
        games = await self._run_in_thread(request, self._archive.list_games, owner)
        return AsciiJsonResponse(
            [
                {
                    "id": game.id,
                    "game": game.setup.game,
                    "opponent": game.setup.opponent_name,
                    "moves": len(game.moves),
                    "result": game.game_result.result if game.game_result else "",
                    "changed": game.changed,
                }
                for game in games
            ]
        )

    async def _create_game(self, request: Request) -> Response:
        owner = self._require_owner(request)
        try:
            form = await request.json()
        except (ValueError, RecursionError):
            form = None
        if not isinstance(form, dict):
            raise HTTPException(400, "invalid request (expected a JSON object)")
        if self._archive.count(owner) >= MAX_SAVED_GAMES:
            raise HTTPException(429, f"too many saved games (at most {MAX_SAVED_GAMES})")
        try:
            setup = await self._run_in_thread(request, parse_setup, form, self._site.resources)
            game = SavedGame(secrets.token_urlsafe(9), owner, setup)
            session = GameSession(game, self._site, self._archive)
        except (SetupError, ValueError) as error:
            raise HTTPException(400, str(error)) from None
        game.moves = list(session.board.moves)
        self._archive.save(game)
        await self._evict_idle()
        self._sessions[game.id] = session
        return AsciiJsonResponse({"id": game.id}, 201)

    async def _position_at(self, request: Request) -> Response:
        game = self._saved_game(request)
        moves = game.moves[: request.path_params["ply"]]

        def position() -> dict[str, Any]:
            board = self._replay(game, moves)
            return {"ply": len(board.moves), "board": board.view(), "mover": board.mover}

        return AsciiJsonResponse(await self._run_in_thread(request, position))

    async def _record(self, request: Request) -> Response:
        game = self._saved_game(request)
        board = await self._run_in_thread(request, self._replay, game, game.moves)
        suffix, media_type, text = export_game(game, board)
        name = f"kempelen-{game.id}.{suffix}"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(text, media_type=media_type, headers=headers)

    async def _run_in_thread(
        self, request: Request, function: Callable[..., Result], *arguments: Any
    ) -> Result:
        async with self._site.visitor_locks.lock(self._site.client_key(request)):
            return await asyncio.to_thread(function, *arguments)

    async def _channel(self, socket: WebSocket) -> None:
        async def serve(channel: Channel) -> None:
            name = socket.path_params["game"]
            try:
                session = await self._session(name)
            except ValueError as error:
                self._log_unplayable(name, error)
                await channel.reject(UNPLAYABLE_MESSAGE)
                return
            if session is None:
                await channel.reject("game not found")
            else:
                await session.serve(channel)

        await serve_channel(socket, self._site, serve)

    async def _session(self, name: str) -> GameSession | None:
        """Return the session of a game, from memory or the archive, or None if it is unknown."""
        if name not in self._sessions:
            saved = self._archive.find(name)
            if saved is None:
                return None
            await self._evict_idle()
            # Runs in a thread, because replaying a long game is slow.
            session = await asyncio.to_thread(GameSession, saved, self._site, self._archive)
            self._sessions.setdefault(name, session)  # unless another request resumed it
        return self._sessions[name]

    async def _evict_idle(self) -> None:
        if len(self._sessions) >= MAX_SESSIONS:
            for name in [name for name, session in self._sessions.items() if session.idle]:
                del self._sessions[name]

    def _replay(self, game: SavedGame, moves: Sequence[str]) -> PlayedGame:
        try:
            return replay_game(game.setup, moves)
        except ValueError as error:
            self._log_unplayable(game.id, error)
            raise HTTPException(404, UNPLAYABLE_MESSAGE) from None

    def _log_unplayable(self, game: str, error: ValueError) -> None:
        self._site.log.write("failed", game=game, error=str(error))

    def _saved_game(self, request: Request) -> SavedGame:
        self._require_owner(request)
        name = request.path_params["game"]
        session = self._sessions.get(name)
        game = self._archive.find(name) if session is None else session.saved
        if game is None:
            raise HTTPException(404, "game not found")
        return game

    def _require_owner(self, request: Request) -> str:
        owner = self._site.owner(request.cookies)
        if not owner:
            raise HTTPException(401, "sign in with your token")
        return owner


def make(site: SiteContext) -> PlayPage:
    return PlayPage(site)
