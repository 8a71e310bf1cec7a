"""Parse xboard lines. The functions raise `UciError` if the arguments are invalid."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.game_clock import TimeSystem
from protocols.uci.parsing import UciError, read_number, shorten

if TYPE_CHECKING:
    import chess

MAX_SECONDS = 1e8  # three years

# A move without a command: coordinates, castling, or SAN. No command name matches.
BARE_MOVE = re.compile(
    r"[a-h][1-8][a-h][1-8][qrbnkQRBNK]?|O-O(-O)?|[KQRBNa-h][a-h1-8x=QRBNK+#]{1,6}"
    r"|[PQRBN]?@[a-h][1-8][+#]?"
)
_HOLDINGS = re.compile(r"\[([PNBRQ]*)\] ?\[([PNBRQ]*)\]", re.I)
_BASE = re.compile(r"(\d{1,9})(?::(\d{1,2}))?")


@dataclass(frozen=True, slots=True)
class NamedValue:
    """The command `option NAME[=VALUE]` or `egtpath TYPE PATH`."""

    name: str
    value: str | None


def parse_text(text: str) -> str:
    """Return all arguments as one string."""
    return text.strip()


def parse_level(text: str) -> TimeSystem:
    """Parse `MOVES BASE INCREMENT`, in which the base time is MIN or MIN:SEC."""
    words = text.split()
    base = _BASE.match(words[1]) if len(words) > 1 else None
    moves = read_number(words[0]) if words else None
    if base is None or moves is None:
        raise UciError("invalid level, expected: level MOVES MINUTES[:SECONDS] INCREMENT")
    increment = parse_seconds(words[2]) if len(words) > 2 else 0.0
    seconds = 60 * int(base[1]) + int(base[2] or 0)
    return TimeSystem(min(seconds, MAX_SECONDS), increment=increment, moves=max(moves, 0))


def parse_seconds(text: str) -> float:
    """Parse seconds, which may have a fraction. Negative values become 0."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = float("nan")
    if seconds != seconds:
        raise UciError(f"invalid number of seconds: {shorten(text)}")
    return min(max(seconds, 0.0), MAX_SECONDS)


def parse_centiseconds(text: str) -> float:
    """Parse centiseconds and return seconds. Negative values become 0."""
    return parse_seconds(text) / 100


def parse_count(text: str) -> int:
    """Parse a positive integer."""
    number = read_number(text)
    if number is None or number < 1:
        raise UciError(f"invalid number: {shorten(text)}, must be at least 1")
    return number


def parse_option(text: str) -> NamedValue:
    """Parse an option name, which may contain spaces, and an optional value."""
    name, equals, value = text.partition("=")
    return NamedValue(name.strip(), value.strip() if equals else None)


def parse_egtpath(text: str) -> NamedValue:
    """Parse a tablebase format and its path."""
    format_name, _, path = text.strip().partition(" ")
    return NamedValue(format_name, path.strip())


def parse_holdings(text: str) -> tuple[str, str]:
    """Parse `[WHITE] [BLACK]` and return both as letters of FEN. A third word is ignored."""
    match = _HOLDINGS.match(text.strip())
    if match is None:
        raise UciError("invalid holdings, expected: holding [WHITE] [BLACK]")
    return match[1].upper(), match[2].lower()


def find_move(board: chess.Board, text: str) -> chess.Move | None:
    """Return the legal move in coordinate notation or SAN, or None.

    Castling may also be written as king takes rook.
    """
    for read in (board.parse_uci, board.parse_san):
        try:
            move = read(text)
        except ValueError:
            continue
        if move:
            return move
    return None
