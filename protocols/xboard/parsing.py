"""Lines of xboard's protocol parsed into values; UciError says what is wrong with one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from protocols.uci.parsing import UciError, read_number, shorten

if TYPE_CHECKING:
    import chess

# The most of anything that is counted in seconds: three years.
MAX_SECONDS = 1e8

# A move as front ends write it without a command: coordinates, castling, or the usual notation.
# No command of the table looks like one.
BARE_MOVE = re.compile(r"[a-h][1-8][a-h][1-8][qrbnQRBN]?|O-O(-O)?|[KQRBNa-h][a-h1-8x=QRBN+#]{1,6}")
_BASE = re.compile(r"(\d{1,9})(?::(\d{1,2}))?")


@dataclass(frozen=True, slots=True)
class LevelCommand:
    """`level MPS BASE INC`: moves for each control (0: all of them), seconds, seconds a move."""

    moves: int
    base: float
    increment: float


@dataclass(frozen=True, slots=True)
class NamedValue:
    """`option NAME[=VALUE]` or `egtpath TYPE PATH`; value is None where there is none."""

    name: str
    value: str | None


def parse_text(text: str) -> str:
    """Take the arguments as they are."""
    return text.strip()


def parse_level(text: str) -> LevelCommand:
    """Parse a time control. BASE is MIN or MIN:SEC; what follows it is for later versions."""
    words = text.split()
    base = _BASE.match(words[1]) if len(words) > 1 else None
    moves = read_number(words[0]) if words else None
    if base is None or moves is None:
        raise UciError("expected: level MOVES MINUTES[:SECONDS] INCREMENT")
    increment = parse_seconds(words[2]) if len(words) > 2 else 0.0
    seconds = 60 * int(base[1]) + int(base[2] or 0)
    return LevelCommand(max(moves, 0), min(seconds, MAX_SECONDS), increment)


def parse_seconds(text: str) -> float:
    """Parse seconds, whole or not; none are below 0."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = float("nan")
    if seconds != seconds:
        raise UciError(f"expected seconds, not {shorten(text)}")
    return min(max(seconds, 0.0), MAX_SECONDS)


def parse_centiseconds(text: str) -> float:
    """Parse what a clock shows, in hundredths of a second, into seconds; none are below 0."""
    return parse_seconds(text) / 100


def parse_count(text: str) -> int:
    """Parse a number above 0."""
    number = read_number(text)
    if number is None or number < 1:
        raise UciError(f"expected a number above 0, not {shorten(text)}")
    return number


def parse_option(text: str) -> NamedValue:
    """Parse the name of an option, which may hold spaces, and its value."""
    name, equals, value = text.partition("=")
    return NamedValue(name.strip(), value.strip() if equals else None)


def parse_egtpath(text: str) -> NamedValue:
    """Parse a kind of endgame tables and where they are."""
    kind, _, path = text.strip().partition(" ")
    return NamedValue(kind, path.strip())


def find_move(board: chess.Board, text: str) -> chess.Move | None:
    """Return the legal move that a text stands for, by coordinates or in the usual notation.

    Castling is taken as the king's step, as king takes rook, and as O-O.
    """
    for read in (board.parse_uci, board.parse_san):
        try:
            move = read(text)
        except ValueError:
            continue
        if move:
            return move
    return None
