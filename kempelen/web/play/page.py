from __future__ import annotations

import asyncio
import math
import random
import secrets
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from agent.io.message import Message
from kempelen.web.channel import Channel
from kempelen.web.game_files import file_response
from kempelen.web.layout import page_words, request_language
from kempelen.web.pages import Page
from kempelen.web.play.archive import (
    OUTCOMES,
    Archive,
    GameSearch,
    SavedGame,
    board_game_text,
    export_game,
    outcome,
)
from kempelen.web.play.boards import PlayedGame, replay_game
from kempelen.web.play.game_session import GameSession
from kempelen.web.play.setup import GameSetup, form_choices, parse_setup
from kempelen.web.responses import AsciiJsonResponse, json_object
from kempelen.web.site_context import SiteContext

# Maximum number of games in memory. Games without viewers are removed first.
MAX_SESSIONS = 1000
# Maximum number of saved games per visitor.
MAX_SAVED_GAMES = 20_000
UNPLAYABLE_MESSAGE = "this game is no longer available"


class PlayPage(Page):
    """The page for playing, with a form for new games, the saved games, and a channel per game."""

    name = "play"
    paths = ("/play", "/play/{game:str}")

    def __init__(self, site: SiteContext) -> None:
        super().__init__(site)
        self._archive = Archive(site.database)
        self._sessions: dict[str, GameSession] = {}

    def routes(self) -> Sequence[BaseRoute]:
        return (
            self.route("/games", self._games),
            self.route("/games", self._create_game, "POST"),
            self.route("/games/choices", self._choices),
            self.route("/games/{game:str}", self._describe),
            self.route("/games/{game:str}", self._delete, "DELETE"),
            self.route("/games/{game:str}/at/{ply:number}", self._position_at),
            self.route("/games/{game:str}/record", self._record),
            self.route("/games/{game:str}/rematch", self._rematch, "POST"),
            self.channel_route("/games/{game:str}/channel", self._serve),
        )

    async def stop(self) -> None:
        await asyncio.gather(*(session.suspend() for session in self._sessions.values()))

    async def _choices(self, request: Request) -> Response:
        return AsciiJsonResponse(
            await self.run_in_thread(request, form_choices, self.site.resources)
        )

    async def _games(self, request: Request) -> Response:
        owner, search = self.site.owner(request.cookies), _read_search(request)
        games = await self.run_in_thread(request, self._archive.list_games, owner, search)
        return AsciiJsonResponse([_summary(game) for game in games])

    async def _create_game(self, request: Request) -> Response:
        if (form := await json_object(request)) is None:
            raise HTTPException(400, "invalid request (expected a JSON object)")
        try:
            setup = await self.run_in_thread(request, parse_setup, form, self.site.resources)
            return await self._begin(request, setup)
        except ValueError as error:
            raise HTTPException(400, str(error)) from None

    async def _rematch(self, request: Request) -> Response:
        """Begin a game with the setup of another one and the sides swapped."""
        setup = self._saved_game(request).setup
        seed = random.SystemRandom().randrange(1 << 31)
        try:
            return await self._begin(request, replace(setup, side=1 - setup.side, seed=seed))
        except ValueError:
            raise HTTPException(404, UNPLAYABLE_MESSAGE) from None

    async def _begin(self, request: Request, setup: GameSetup) -> Response:
        """Begin a game. Raise ValueError if its setup is invalid."""
        owner = self.site.owner(request.cookies)
        if self._archive.count(owner) >= MAX_SAVED_GAMES:
            raise HTTPException(429, Message("too many saved games (at most {})", MAX_SAVED_GAMES))
        game = SavedGame(secrets.token_urlsafe(9), owner, setup)
        session = GameSession(game, self.site, self._archive)
        game.moves = list(session.board.moves)
        self._archive.save(game)
        await self._evict_idle()
        self._sessions[game.id] = session
        return AsciiJsonResponse({"id": game.id}, 201)

    async def _describe(self, request: Request) -> Response:
        """Return the player number of the visitor in a game, and its text for the page Analyse.

        The number is null for another visitor's game. The text is null for games without a text in
        JSON, such as chess and Go.
        """
        game = self._saved_game(request)
        owned = game.owner == self.site.owner(request.cookies)
        try:
            text = await self.run_in_thread(request, board_game_text, game, self.site.resources)
        except ValueError as error:  # a move is illegal by the current rules
            self._log_unplayable(game.id, error)
            raise HTTPException(404, UNPLAYABLE_MESSAGE) from None
        return AsciiJsonResponse({"side": game.setup.side if owned else None, "text": text})

    async def _delete(self, request: Request) -> Response:
        game = self._saved_game(request)
        if game.owner != self.site.owner(request.cookies):
            raise HTTPException(403, "a game can be deleted by its player only")
        session = self._sessions.pop(game.id, None)
        if session is not None:
            session.deleted = True
        self._archive.delete(game.id)
        if session is not None:
            await session.discard()
        return AsciiJsonResponse({})

    async def _position_at(self, request: Request) -> Response:
        game = self._saved_game(request)
        moves = game.moves[: request.path_params["ply"]]

        def position() -> dict[str, Any]:
            board = self._replay(game, moves)
            return {"ply": len(board.moves), "board": board.view(), "mover": board.mover}

        return AsciiJsonResponse(await self.run_in_thread(request, position))

    async def _record(self, request: Request) -> Response:
        game = self._saved_game(request)
        board = await self.run_in_thread(request, self._replay, game, game.moves)
        words = page_words("play", request_language(request))
        suffix, text = export_game(game, board, words)
        return file_response(f"kempelen-{game.id}", suffix, text)

    async def _serve(self, channel: Channel) -> None:
        name = channel.path_params["game"]
        try:
            session = await self._session(name, channel.visitor)
        except ValueError as error:
            self._log_unplayable(name, error)
            await channel.reject(UNPLAYABLE_MESSAGE)
            return
        if session is None:
            await channel.reject("game not found")
        else:
            await session.serve(channel)

    async def _session(self, name: str, visitor: Hashable) -> GameSession | None:
        """Return the session of a game, from memory or the archive, or None if it is unknown."""
        if name not in self._sessions:
            saved = self._archive.find(name)
            if saved is None:
                return None
            await self._evict_idle()
            # Replaying a long game is slow.
            async with self.site.game_locks.lock(visitor, math.inf):
                session = await asyncio.to_thread(GameSession, saved, self.site, self._archive)
            if name not in self._sessions and self._archive.find(name) is None:
                return None  # deleted meanwhile; the session would save it again
            self._sessions.setdefault(name, session)  # unless another request resumed it
        return self._sessions[name]

    async def _evict_idle(self) -> None:
        if len(self._sessions) >= MAX_SESSIONS:
            for name in [name for name, session in self._sessions.items() if session.idle]:
                del self._sessions[name]

    def _replay(self, game: SavedGame, moves: Sequence[str]) -> PlayedGame:
        try:
            return replay_game(game.setup, moves, game.dead)
        except ValueError as error:
            self._log_unplayable(game.id, error)
            raise HTTPException(404, UNPLAYABLE_MESSAGE) from None

    def _log_unplayable(self, game: str, error: ValueError) -> None:
        self.site.log.write_limited("failed", game=game, error=str(error))

    def _saved_game(self, request: Request) -> SavedGame:
        name = request.path_params["game"]
        session = self._sessions.get(name)
        try:
            game = self._archive.find(name) if session is None else session.saved
        except ValueError as error:
            self._log_unplayable(name, error)
            raise HTTPException(404, UNPLAYABLE_MESSAGE) from None
        if game is None:
            raise HTTPException(404, "game not found")
        return game


def _summary(game: SavedGame) -> dict[str, Any]:
    """Return what the list of saved games shows of a game."""
    setup, result = game.setup, game.game_result.result if game.game_result else ""
    return {
        "id": game.id,
        "game": setup.game,
        "variant": setup.variant,
        "chess960": setup.chess960,
        "opponent": setup.opponent_name,
        "level": setup.level_name,
        "moves": len(game.moves),
        "outcome": outcome(setup, result),
        "result": result,
        "changed": game.changed,
    }


def _read_search(request: Request) -> GameSearch:
    """Return the search in the query string. Raise HTTPException if it is invalid."""
    query = request.query_params
    result = query.get("result", "")
    if result not in ("", *OUTCOMES):
        raise HTTPException(
            400,
            Message(
                "{}: invalid value (expected one of: {})", Message("result"), ", ".join(OUTCOMES)
            ),
        )
    times = []
    for name, default in (("since", -math.inf), ("until", math.inf)):
        try:
            times.append(float(query.get(name, default)))
        except ValueError:
            raise HTTPException(400, Message("{}: must be a number", name)) from None
    words = page_words("play", request_language(request))
    since, until = times
    return GameSearch(query.get("game", ""), query.get("opponent", ""), result, since, until, words)
