from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import chess
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from agent.games.fen import board_from_fen, position_faults
from agent.io.message import Message, library_message
from kempelen.web.pages import Page
from kempelen.web.play.boards import GoGame
from kempelen.web.play.setup import GO, MAX_FEN_LENGTH, SetupError, parse_setup
from kempelen.web.responses import AsciiJsonResponse, json_object
from kempelen.web.site_context import SiteResources

CASTLING = {"K": chess.H1, "Q": chess.A1, "k": chess.H8, "q": chess.A8}


class EditorPage(Page):
    """The page for setting up positions, which the server checks."""

    name = "editor"
    paths = ("/editor",)

    def routes(self) -> Sequence[BaseRoute]:
        return (self.route("/editor/check", self._check, "POST"),)

    async def _check(self, request: Request) -> Response:
        data = await json_object(request) or {}
        check = check_chess if "fen" in data else check_go
        try:
            return AsciiJsonResponse(await self.run_in_thread(request, check, data))
        except SetupError as error:
            raise HTTPException(422, str(error)) from None


def check_chess(data: Mapping[str, Any]) -> dict[str, Any]:
    """Check a chess position.

    Return its FEN without impossible castling and en passant rights, the possible rights, and its
    faults. Raise SetupError if its FEN is invalid.
    """
    fen = data.get("fen")
    if not isinstance(fen, str) or len(fen) > MAX_FEN_LENGTH:
        name = Message("fen")
        raise SetupError("{}: must be text of at most {} characters", name, MAX_FEN_LENGTH)
    try:
        board = board_from_fen(fen)
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
        "fen": board.fen(en_passant="fen"),
        "castling": castling,
        "passing": list(map(chess.square_name, targets)),
        "faults": faults.split(", ") if faults else [],
        "over": not faults and board.is_game_over(),
    }


def check_go(data: Mapping[str, Any]) -> dict[str, Any]:
    """Check a position of Go. A valid one has no faults and is never the end of a game.

    Raise SetupError if its SGF is invalid.
    """
    sgf = data.get("sgf")
    if not isinstance(sgf, str):
        raise SetupError("position: missing")
    GoGame(parse_setup({"game": GO, "sgf": sgf}, SiteResources()))
    return {"faults": [], "over": False}
