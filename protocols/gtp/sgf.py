"""Go games from SGF files, through sgfmill, and as SGF."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from agent.border.files import read_bytes
from protocols.gtp.values import MOST

LARGEST_FILE = 4 << 20
LEAST_SIZE = 2  # of the boards that sgfmill can hold

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
    return record_of(read_trees(file, first=True)[0])


def read_trees(file: Path, *, first: bool = False) -> list[Any]:
    """Read all games of a file, or the first alone, as sgfmill's trees.

    SgfError if that cannot be.
    """
    try:
        data = read_bytes(file, LARGEST_FILE)
    except (OSError, ValueError) as error:
        raise SgfError(getattr(error, "strerror", None) or str(error)) from None
    return parse_trees(data, first=first)


def parse_trees(data: bytes, *, first: bool = False, encoding: str | None = None) -> list[Any]:
    """Return the games of a file's content, as sgfmill's trees; SgfError if there are none.

    encoding: what the text is in, whatever the file says of itself; None for what it says.
    """
    try:
        from sgfmill import sgf, sgf_grammar
    except ImportError:
        raise SgfError("pip install 'kempelen[gtp]' brings the reader of SGF") from None
    try:
        if first:
            return [sgf.Sgf_game.from_bytes(data, encoding)]
        trees = sgf_grammar.parse_sgf_collection(data)
        return [sgf.Sgf_game.from_coarse_game_tree(tree, encoding) for tree in trees]
    except (ValueError, KeyError, RecursionError, LookupError) as error:
        raise SgfError(str(error) or "it is no SGF") from None


def record_of(game: Any) -> Record:
    """Return the main line of one of sgfmill's trees; SgfError if that cannot be."""
    from sgfmill import sgf_moves

    try:
        if game.get_size() < LEAST_SIZE:
            raise SgfError(f"a board of size {game.get_size()}")
        board, plays = sgf_moves.get_setup_and_moves(game)
        root = game.get_root()
        komi = root.get("KM") if root.has_property("KM") else None
        first = _player(root.get("PL")) if root.has_property("PL") else None
    except (ValueError, KeyError, RecursionError, LookupError) as error:
        raise SgfError(str(error) or "it is no SGF") from None
    if komi is not None and not (isfinite(komi) and abs(komi) <= MOST):
        raise SgfError(f"a komi of {komi:g}")
    stones: tuple[list[Point], list[Point]] = ([], [])
    for colour, (row, column) in board.list_occupied_points():
        stones[_player(colour)].append((column, row))
    moves = [
        (_player(colour), None if place is None else (place[1], place[0]))
        for colour, place in plays
    ]
    if moves:
        first = moves[0][0]
    elif first is None:
        first = int(bool(stones[0]) and not stones[1])
    return Record(game.get_size(), komi, stones, first, moves)


def _player(colour: str) -> int:
    return 0 if colour == "b" else 1


def write(record: Record, rules: str) -> str:
    """Return a game as SGF, on one line. rules: what they are called in SGF."""
    komi = "" if record.komi is None else f"KM[{record.komi:.10g}]"
    root = f";FF[4]GM[1]CA[UTF-8]AP[Kempelen]SZ[{record.size}]{komi}RU[{rules}]"
    for name, stones in zip(("AB", "AW"), record.stones, strict=True):
        if stones:
            root += name + "".join(f"[{_point(point, record.size)}]" for point in sorted(stones))
    if not record.moves and (record.first or any(record.stones)):
        root += f"PL[{'BW'[record.first]}]"  # else the first move tells
    return f"({root}{_moves(record.moves, record.size)})"


def _moves(moves: Iterable[tuple[int, Point | None]], size: int) -> str:
    return "".join(
        f";{'BW'[player]}[{'' if point is None else _point(point, size)}]"
        for player, point in moves
    )


def _point(point: Point, size: int) -> str:
    """Return a point as SGF counts: the column, then the row, from the upper left."""
    column, row = point
    return f"{chr(ord('a') + column)}{chr(ord('a') + size - 1 - row)}"
