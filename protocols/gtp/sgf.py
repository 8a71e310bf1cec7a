"""Go games from SGF files, through sgfmill."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from agent.border.files import read_bytes

LARGEST_FILE = 4 << 20

Point = tuple[int, int]


class SgfError(Exception):
    """A file cannot be read as a game of Go; the message says why."""


@dataclass(frozen=True, slots=True)
class Record:
    """The main line of a game. A point is a column and a row, from 0 at the lower left.

    stones: Black's and White's that are on the board before the first move. first: the player
    who moves first. moves: the player and the point, None for a pass.
    """

    size: int
    komi: float | None
    stones: tuple[list[Point], list[Point]]
    first: int
    moves: list[tuple[int, Point | None]]


def read(file: Path) -> Record:
    """Read the main line of a file's first game; SgfError if that cannot be."""
    try:
        from sgfmill import sgf, sgf_moves
    except ImportError:
        raise SgfError("pip install 'kempelen[gtp]' brings the reader of SGF") from None
    try:
        data = read_bytes(file, LARGEST_FILE)
    except (OSError, ValueError) as error:
        raise SgfError(getattr(error, "strerror", None) or str(error)) from None
    try:
        game = sgf.Sgf_game.from_bytes(data)
        board, plays = sgf_moves.get_setup_and_moves(game)
        root = game.get_root()
        komi = root.get("KM") if root.has_property("KM") else None
    except (ValueError, KeyError, RecursionError, LookupError) as error:
        raise SgfError(str(error) or "it is no SGF") from None
    stones: tuple[list[Point], list[Point]] = ([], [])
    for colour, (row, column) in board.list_occupied_points():
        stones[_player(colour)].append((column, row))
    moves = [
        (_player(colour), None if place is None else (place[1], place[0]))
        for colour, place in plays
    ]
    if moves:
        first = moves[0][0]
    elif root.has_property("PL"):
        first = _player(root.get("PL"))
    else:
        first = int(bool(stones[0]) and not stones[1])
    return Record(game.get_size(), komi, stones, first, moves)


def _player(colour: str) -> int:
    return 0 if colour == "b" else 1
