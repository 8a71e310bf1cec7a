"""Positions of board games as text, similar to a FEN in chess.

The text contains the rows from the top, with slashes between them, and the piece of the side to
move. A number stands for empty squares. For example, this is the start position of Othello:

    8/8/8/3OX3/3XO3/8/8/8 X
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, Protocol

from agent.game import Move, NotatedGame
from agent.io.message import Message

if TYPE_CHECKING:
    from agent.games.catalogue import GameType

MAX_LENGTH = 1000
# The constructor option of a game's class.
OPTION = "position"
_EMPTY = re.compile(r"\d{1,2}")


class SupportsSetup(NotatedGame[Move], Protocol[Move]):
    """A game that can begin at any position.

    The constructor of its class has the keyword-only option `position`, with the text of a
    position. By default it is "", which stands for the initial position. The board has the size
    that other options define.

    `pieces` contains the signs of each player's pieces in `str(game)`. The first piece of a player
    stands for the player to move.
    """

    pieces: tuple[str, str]

    def position(self) -> str:
        """Return the current position as text."""


def format_position(rows: Sequence[str], turn: int, pieces: tuple[str, str]) -> str:
    """Return a position as text. In `rows`, an empty square is `.` or a space."""
    placement = "/".join(re.sub(r"[. ]+", lambda match: str(len(match[0])), row) for row in rows)
    return f"{placement} {pieces[turn][0]}"


def parse_position(text: str, pieces: tuple[str, str]) -> tuple[list[str], int]:
    """Return the rows of a position from the top, and the player to move.

    In the rows, an empty square is `.`. All rows have the same length. Raise ValueError if the text
    is invalid.
    """
    words = text.split() if isinstance(text, str) and len(text) <= MAX_LENGTH else []
    if len(words) != 2:
        example = format_position(["..", ".."], 0, pieces)
        raise ValueError(Message("position: invalid (expected text such as {!r})", example))
    placement, side = words
    rows = [_EMPTY.sub(lambda match: "." * int(match[0]), row) for row in placement.split("/")]
    signs = {".", *pieces[0], *pieces[1]}
    if unknown := sorted(set("".join(rows)) - signs):
        expected = ", ".join([*pieces[0], *pieces[1]])
        raise ValueError(
            Message("position: unknown piece {!r} (expected one of: {})", unknown[0], expected)
        )
    if len(set(map(len, rows))) != 1 or not rows[0]:
        raise ValueError(Message("position: all rows must have the same number of squares"))
    sides = [player[0] for player in pieces]
    if side not in sides:
        raise ValueError(
            Message(
                "position: unknown side to move {!r} (expected one of: {})", side, ", ".join(sides)
            )
        )
    return rows, sides.index(side)


def with_other_side(text: str, pieces: tuple[str, str]) -> str:
    """Return a valid text with the other side to move."""
    rows, turn = parse_position(text, pieces)
    return format_position(rows, 1 - turn, pieces)


def parse_sized_position(
    text: str, pieces: tuple[str, str], width: int, height: int
) -> tuple[list[str], int]:
    """Return the same as `parse_position`. Raise ValueError for another size of the board, too."""
    rows, turn = parse_position(text, pieces)
    if (len(rows[0]), len(rows)) != (width, height):
        raise ValueError(
            Message(
                "position: the board has {} columns and {} rows (expected {} and {})",
                *(len(rows[0]), len(rows), width, height),
            )
        )
    return rows, turn


def piece_bits(rows: Sequence[str], signs: str) -> int:
    """Return the squares with one of the signs as a bitboard, by row from the top left."""
    squares = enumerate("".join(rows))
    return sum(1 << square for square, sign in squares if sign in signs)


def require_alternate_turns(rows: Sequence[str], turn: int, pieces: tuple[str, str]) -> None:
    """Raise ValueError if the number of pieces is impossible in a game where each move adds one."""
    first, second = (sum(row.count(sign) for row in rows) for sign in pieces)
    if first - second != turn:
        raise ValueError(
            Message(
                "position: {} pieces {} and {} pieces {} with {} to move",
                *(first, pieces[0], second, pieces[1], pieces[turn]),
            )
        )


def supports_setup(game_type: GameType) -> bool:
    """Return whether the games of a type implement `SupportsSetup`."""
    game_class = game_type.game_class
    return OPTION in signature(game_class).parameters and hasattr(game_class, "pieces")


def options_for(game_type: GameType, text: str) -> dict[str, Any]:
    """Return the options of a game that begins at a position, including the size of its board.

    Raise ValueError if the text is invalid.
    """
    rows, _ = parse_position(text, game_type.game_class.pieces)
    sizes = {"size": len(rows), "width": len(rows[0]), "height": len(rows)}
    known = signature(game_type.game_class).parameters
    return {**{name: size for name, size in sizes.items() if name in known}, OPTION: text}


def complete_options(game_type: GameType, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with the game's default values, but without an empty position."""
    complete = game_type.with_defaults(options)
    if not complete.get(OPTION, True):
        del complete[OPTION]
    return complete
