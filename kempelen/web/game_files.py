"""Files of games that visitors download."""

from __future__ import annotations

from starlette.responses import Response

from kempelen.match.game.game_result import GameResult, Termination
from kempelen.match.records.game_record import PgnFormat

PGN_FORM = PgnFormat(clocks=True)
UNFINISHED = GameResult("*", Termination.RULES, "the game goes on")
_MEDIA_TYPES = {
    "pgn": "application/vnd.chess-pgn",
    "sgf": "application/x-go-sgf",
    "txt": "text/plain",
}


def file_response(name: str, suffix: str, text: str) -> Response:
    """Return a file that the browser saves as NAME.SUFFIX."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.{suffix}"'}
    return Response(text, media_type=_MEDIA_TYPES[suffix], headers=headers)
