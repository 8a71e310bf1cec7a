"""Positions as a page draws them, and the pieces that it draws them with.

The pieces are those that the `chess` package ships (Colin M.L. Burnett's, GPL), with their styles
written as attributes, which a page without inline styles may show.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import chess
import chess.svg
from starlette.requests import Request
from starlette.responses import Response

from agent.games.course import Course
from agent.games.go import LARGEST
from tournament.game_settings import CHESS, GO, GameSettings, new_game

LONGEST_FEN = 120
LONGEST_TEXT = 8000


@cache
def pieces() -> str:
    """Return all pieces of chess as symbols of one drawing: wP, bK and so on."""
    symbols = []
    for letter, drawing in chess.svg.PIECES.items():
        name = ("w" if letter.isupper() else "b") + letter.upper()
        inner = re.sub(r'style="([^"]*)"', lambda found: _attributes(found[1]), drawing)
        inner = re.sub(r' (id|class)="[^"]*"', "", inner)
        symbols.append(f'<symbol id="{name}" viewBox="0 0 45 45">{inner}</symbol>')
    return f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(symbols)}</svg>'


def _attributes(style: str) -> str:
    pairs = (part.split(":", 1) for part in style.split(";") if ":" in part)
    return " ".join(f'{name.strip()}="{value.strip()}"' for name, value in pairs)


async def send_pieces(request: Request) -> Response:
    """Answer with the pieces, which do not change."""
    headers = {"Cache-Control": "max-age=86400"}
    return Response(pieces(), media_type="image/svg+xml", headers=headers)


def drawing(game: str, position: str) -> dict[str, Any]:
    """Return a position as text, a FEN or what the game says of itself, as a page draws it.

    It may be a stranger's, so no more of it is drawn than a board has.
    """
    if game == CHESS:
        return {"type": CHESS, "fen": position[:LONGEST_FEN]}
    if game == GO:
        lines = position[:LONGEST_TEXT].splitlines()[:-1][:LARGEST]
        return {"type": GO, "rows": ["".join(line.split()[1:])[:LARGEST] for line in lines]}
    return {"type": "text", "text": position[:LONGEST_TEXT]}


def drawn_chess(board: chess.Board, moves: Sequence[str]) -> list[dict[str, Any]]:
    """Return all positions of a game: moves in UCI. Raises ValueError for one that is illegal."""
    found: list[dict[str, Any]] = [{"type": CHESS, "fen": board.fen()}]
    for text in moves:
        move = board.parse_uci(text)
        san = board.san(move)
        board.push(move)
        last = [chess.square_name(move.from_square), chess.square_name(move.to_square)]
        found.append({"type": CHESS, "fen": board.fen(), "move": san, "last": last})
    return found


def drawn_game(settings: GameSettings, moves: Sequence[str]) -> list[dict[str, Any]]:
    """Return all positions of a game other than chess. Raises ValueError for an illegal move."""
    course = Course(new_game(settings))
    found = [drawing(settings.name, str(course.game))]
    for text in moves:
        written = course.play(text)
        found.append({**drawing(settings.name, str(course.game)), "move": written})
        if settings.name == GO:
            found[-1]["last"] = [written]
    return found
