from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any

import chess
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from agent.game import NotatedGame
from agent.games.catalogue import GameError, GameType
from agent.games.fen import board_from_fen, position_faults
from agent.games.position_text import (
    MAX_LENGTH,
    OPTION,
    format_position,
    options_for,
    parse_position,
    with_other_side,
)
from agent.games.variants import STANDARD, VARIANTS, ChessRules, board_class, parse_variant
from agent.io.message import Message, library_message
from kempelen.console.translation import translate
from kempelen.web.layout import request_language
from kempelen.web.pages import Page
from kempelen.web.play.boards import BoardGame, GoGame
from kempelen.web.play.setup import (
    BOUNDS,
    GO,
    MAX_FEN_LENGTH,
    GameSetup,
    SetupError,
    find_game_type,
    find_setup_game,
    parse_setup,
    playable_games,
)
from kempelen.web.responses import AsciiJsonResponse, json_object
from kempelen.web.site_context import NO_RESOURCES, SiteResources

CASTLING = {"K": chess.H1, "Q": chess.A1, "k": chess.H8, "q": chess.A8}


class EditorPage(Page):
    """The page for setting up positions, which the server checks."""

    name = "editor"
    paths = ("/editor",)

    def routes(self) -> Sequence[BaseRoute]:
        return (
            self.route("/editor/choices", self._choices),
            self.route("/editor/check", self._check, "POST"),
        )

    async def _choices(self, request: Request) -> Response:
        return AsciiJsonResponse(
            await self.run_in_thread(request, editor_choices, self.site.resources)
        )

    async def _check(self, request: Request) -> Response:
        data, offers = await json_object(request) or {}, self.site.resources

        def check() -> dict[str, Any]:
            if "fen" in data:
                return check_chess(data)
            found = check_board(data, offers) if "board" in data else check_go(data)
            language = request_language(request)
            return {**found, "faults": [translate(each, language) for each in found["faults"]]}

        try:
            return AsciiJsonResponse(await self.run_in_thread(request, check))
        except SetupError as error:
            raise HTTPException(422, str(error)) from None


def editor_choices(offers: SiteResources) -> dict[str, Any]:
    """Return the games that the editor offers, in JSON form.

    For each variant of chess, this is the initial position. For each board game, it is the initial
    position, the signs of both players' pieces, and the bounds of the sizes of the board.
    """
    found = {name: find_setup_game(name, offers) for name in playable_games(offers)}
    games = {name: game_type for name, game_type in found.items() if game_type is not None}
    return {
        "variants": {name: board_class(name).starting_fen for name in VARIANTS},
        "boards": {
            name: {
                "start": game_type.new().position(),  # type: ignore[attr-defined]
                "pieces": game_type.game_class.pieces,
                "sizes": _sizes(game_type),
            }
            for name, game_type in games.items()
        },
        "go": _sizes(find_game_type(GO)),
    }


def _sizes(game_type: GameType) -> dict[str, tuple[int, int]]:
    known = signature(game_type.game_class).parameters
    return {name: BOUNDS[name] for name in ("size", "width", "height") if name in known}


def check_chess(data: Mapping[str, Any]) -> dict[str, Any]:
    """Check a position of chess or of a variant.

    Return its variant, its FEN without impossible castling and en passant rights, the possible
    rights, and its faults. Raise SetupError if its FEN is invalid, or its variant unknown.
    """
    fen, variant = data.get("fen"), data.get("variant", STANDARD)
    if not isinstance(fen, str) or len(fen) > MAX_FEN_LENGTH:
        name = Message("fen")
        raise SetupError("{}: must be text of at most {} characters", name, MAX_FEN_LENGTH)
    try:
        rules = ChessRules(parse_variant(str(variant)))
    except ValueError as error:
        raise SetupError(str(error)) from None
    try:
        board = board_from_fen(fen, rules)
    except ValueError as error:
        raise SetupError("position: {}", library_message(error)) from None
    rights, target = board.castling_rights, board.ep_square
    board.castling_rights = sum(chess.BB_SQUARES[corner] for corner in CASTLING.values())
    board.castling_rights = possible = board.clean_castling_rights()
    castling = [name for name, corner in CASTLING.items() if possible & chess.BB_SQUARES[corner]]
    board.castling_rights = rights & possible
    targets = []
    for square in chess.SquareSet(chess.BB_RANK_6 if board.turn else chess.BB_RANK_3):
        board.ep_square = square
        if not board.status() & chess.STATUS_INVALID_EP_SQUARE and board.has_legal_en_passant():
            targets.append(square)
    board.ep_square = target if target in targets else None
    faults = position_faults(board) if board.occupied else "empty"
    return {
        "variant": rules.variant,
        "fen": board.fen(en_passant="fen"),
        "castling": castling,
        "passing": list(map(chess.square_name, targets)),
        "faults": faults.split(", ") if faults else [],
        "over": not faults and board.is_game_over(),
    }


def check_board(data: Mapping[str, Any], offers: SiteResources = NO_RESOURCES) -> dict[str, Any]:
    """Check a position of a board game.

    Return the position, with the side to move that is possible if only one is, the possible sides,
    its rows, its faults, and what the page needs to draw the board. Raise SetupError if the game,
    the text or the size of the board is invalid.
    """
    name, text = data.get("board"), data.get("position")
    game_type = find_setup_game(name, offers) if isinstance(name, str) else None
    if game_type is None:
        raise SetupError("game: unknown or unsupported")
    if not isinstance(text, str) or len(text) > MAX_LENGTH:
        raise SetupError(
            "{}: must be text of at most {} characters", Message("position"), MAX_LENGTH
        )
    pieces: tuple[str, str] = game_type.game_class.pieces
    try:
        options = options_for(game_type, text)
    except ValueError as error:
        raise SetupError(str(error)) from None
    sizes = {option: value for option, value in options.items() if option != OPTION}
    parse_setup({"game": name, "options": sizes}, offers)  # checks the bounds
    games: dict[str, NotatedGame[Any]] = {}
    faults = []
    for each in (text, with_other_side(text, pieces)):
        try:
            games[each] = game_type.new(**{**options, OPTION: each})
        except GameError as error:
            faults.append(str(error.__cause__ or error))
    if games and text not in games:
        (text,) = games
    rows, turn = parse_position(text, pieces)
    start = BoardGame(GameSetup(game_type.name, sizes)).diagram()
    return {
        "position": format_position(rows, turn, pieces),
        "rows": rows,
        "side": pieces[turn][0],
        "sides": [pieces[parse_position(each, pieces)[1]][0] for each in games],
        "faults": [] if games else faults[:1],
        "over": bool(games) and games[text].outcome() is not None,
        "view": {**start, "line": [], "last": []},
    }


def check_go(data: Mapping[str, Any]) -> dict[str, Any]:
    """Check a position of Go. A valid one has no faults and is never the end of a game.

    Raise SetupError if its SGF is invalid.
    """
    sgf = data.get("sgf")
    if not isinstance(sgf, str):
        raise SetupError("position: missing")
    GoGame(parse_setup({"game": GO, "sgf": sgf}, NO_RESOURCES))
    return {"faults": [], "over": False}
