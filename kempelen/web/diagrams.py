"""Positions as a page draws them, and the pieces that it draws them with.

The pieces are those that the `chess` package ships (Colin M.L. Burnett's, GPL), with their styles
written as attributes, which a page without inline styles may show.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from string import ascii_letters, digits
from typing import Any

import chess
import chess.svg
from starlette.requests import Request
from starlette.responses import Response

from agent.games.game_history import GameHistory
from agent.games.go import MAX_SIZE
from kempelen.match.config.game_settings import CHESS, GO, GameSettings, new_game

MAX_FEN_LENGTH = 120
MAX_TEXT_LENGTH = 8000
# A larger board of a game's own is shown as the text that it is.
MAX_CELLS = 1000
# A line of a board that is written as text: signs parted by single spaces, or by three where the
# dark squares alone are written, beginning at the second column or at the first.
_ROW = re.compile(r"\S( \S)+")
_DARK_ROW = re.compile(r"(  )?\S(   \S)+")


@cache
def pieces_svg() -> str:
    """Return all pieces of chess as symbols of one drawing: wP, bK and so on."""
    symbols = []
    for letter, diagram in chess.svg.PIECES.items():
        name = ("w" if letter.isupper() else "b") + letter.upper()
        inner = re.sub(r'style="([^"]*)"', lambda found: _attributes(found[1]), diagram)
        inner = re.sub(r' (id|class)="[^"]*"', "", inner)
        symbols.append(f'<symbol id="{name}" viewBox="0 0 45 45">{inner}</symbol>')
    return f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(symbols)}</svg>'


def _attributes(style: str) -> str:
    pairs = (part.split(":", 1) for part in style.split(";") if ":" in part)
    return " ".join(f'{name.strip()}="{value.strip()}"' for name, value in pairs)


async def serve_pieces(request: Request) -> Response:
    """Answer with the pieces, which do not change."""
    headers = {"Cache-Control": "max-age=86400"}
    return Response(pieces_svg(), media_type="image/svg+xml", headers=headers)


def diagram(game: str, position: str) -> dict[str, Any]:
    """Return a position as text, a FEN or what the game says of itself, as a page draws it.

    It may be a stranger's, so no more of it is drawn than a board has.
    """
    if game == CHESS:
        return {"type": CHESS, "fen": position[:MAX_FEN_LENGTH]}
    if game == GO:
        lines = position[:MAX_TEXT_LENGTH].splitlines()[:-1][:MAX_SIZE]
        return {"type": GO, "rows": ["".join(line.split()[1:])[:MAX_SIZE] for line in lines]}
    text = position[:MAX_TEXT_LENGTH]
    rows = parse_grid(text)
    if not 0 < sum(map(len, rows)) <= MAX_CELLS:
        return {"type": "text", "text": text}
    return {"type": "grid", "rows": rows, "dark": any(" " in row for row in rows)}


def parse_grid(text: str) -> list[str]:
    """Return the rows of a board written as text, one character a cell; none if it is no board.

    What stands below the board, as the numbers of columns, is left out, and so are the names of
    rows before it. Of a board that has its dark squares alone the others are spaces.
    """
    lines = text.splitlines()
    shifted = [line.startswith(" ") for line in lines]
    if all(map(_DARK_ROW.fullmatch, lines)) and shifted[1:] == [not each for each in shifted[:-1]]:
        width = max(map(len, lines), default=0)
        found = [line.ljust(width)[::2] for line in lines]
        return found if len(found) > 1 else []
    rows: list[str] = []
    for line in lines:
        if not _ROW.fullmatch(line.strip()) or (rows and len(line.split()) != len(rows[0])):
            break
        rows.append("".join(line.split()))
    if rows and rows[-1].isdecimal():
        rows.pop()
    if rows and _is_row_labels("".join(row[0] for row in rows)):
        rows = [row[1:] for row in rows]
    return rows if len(rows) > 1 and len(rows[0]) > 1 else []


def _is_row_labels(column: str) -> bool:
    """Tell whether a column has a, b, c or 1, 2, 3, from above or from below."""
    ordered = min(column, column[::-1])
    return ascii_letters.find(ordered) in (0, 26) or (
        len(ordered) > 2 and digits[1:].startswith(ordered)
    )


def changed_cells(before: Sequence[str], after: Sequence[str]) -> list[list[int]]:
    """Return the rows and columns of what one move has filled or emptied: of most, where it went.

    Men that were only turned are not among them.
    """
    if [len(row) for row in before] != [len(row) for row in after]:
        return []
    return [
        [row, column]
        for row, cells in enumerate(after)
        for column, sign in enumerate(cells)
        if (sign in ". ") != (before[row][column] in ". ")
    ]


def chess_diagrams(board: chess.Board, moves: Sequence[str]) -> list[dict[str, Any]]:
    """Return all positions of a game: moves in UCI. Raises ValueError for one that is illegal."""
    found: list[dict[str, Any]] = [{"type": CHESS, "fen": board.fen()}]
    for text in moves:
        move = board.parse_uci(text)
        san = board.san(move)
        board.push(move)
        last = [chess.square_name(move.from_square), chess.square_name(move.to_square)]
        found.append({"type": CHESS, "fen": board.fen(), "move": san, "last": last})
    return found


def game_diagrams(settings: GameSettings, moves: Sequence[str]) -> list[dict[str, Any]]:
    """Return all positions of a game other than chess. Raises ValueError for an illegal move."""
    course = GameHistory(new_game(settings))
    found = [diagram(settings.name, str(course.game))]
    for text in moves:
        written = course.play(text)
        found.append({**diagram(settings.name, str(course.game)), "move": written})
        if settings.name == GO:
            found[-1]["last"] = [written]
        elif found[-1]["type"] == "grid":
            found[-1]["last"] = changed_cells(found[-2].get("rows", ()), found[-1]["rows"])
    return found
