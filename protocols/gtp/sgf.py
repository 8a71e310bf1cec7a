"""Go games from SGF files, through sgfmill, and as SGF.

sgfmill knows square boards alone, and none of one point. A tree of another is one of the square
that its board fills from the left and from above: SZ says what it is, and `board_size` reads that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from types import MappingProxyType
from typing import Any

from agent.games.go import COLUMNS, MAX_KOMI, Size
from agent.io.files import read_bytes
from agent.io.sanitize import sanitize_line

MAX_FILE_SIZE = 4 << 20
GO_GAME_TYPE = 1  # the number of the game
POSITION_PROPERTIES = ("AB", "AW", "AE", "B", "W", "PL")  # the properties that make positions
MAX_SHOWN_LENGTH = 40  # signs of what cannot be read
MIN_SGFMILL_SIZE = 2  # of the boards that sgfmill can hold

# What some servers' programs, as AP names them, mean by a komi in hundredths of a point, or in
# those of the stones that Chinese rules count by, of which a point is half a one.
PROGRAMS_WITH_KOMI_IN_HUNDREDTHS = (b"foxwq", b"sgfc:2.0")
KOMI_IN_HUNDREDTHS: dict[float, float] = {
    50: 0.5, 275: 5.5, 325: 6.5, 350: 7.0, 375: 7.5, 550: 5.5, 650: 6.5, 700: 7.0, 750: 7.5,
}  # fmt: skip

_WIDTH_HEIGHT = re.compile(rb"\s*([1-9][0-9]?)\s*:\s*([1-9][0-9]?)\s*")
_ONE_POINT = re.compile(rb"\s*0*1\s*")

Point = tuple[int, int]


class SgfError(Exception):
    """A file cannot be read as a game of Go; the message says why."""


@dataclass(frozen=True, slots=True)
class Record:
    """The main line of a game. A point is a column and a row, from 0 at the lower left.

    size: of the board. stones: Black's and White's that are on it before the first move. first: the
    player who moves first. moves: the player and the point, None for a pass. rules: as the file
    calls them, "" where it does not. handicap: of how many stones, None where that is not said.
    """

    size: Size
    komi: float | None
    stones: tuple[list[Point], list[Point]]
    first: int
    moves: list[tuple[int, Point | None]]
    rules: str = ""
    handicap: int | None = None

    @property
    def handicap_stones(self) -> int:
        """Of how many stones the handicap is: if nothing is said, those that Black alone has."""
        black, white = self.stones
        if self.handicap is not None:
            return self.handicap
        return 0 if white else len(black)


def read(file: Path) -> Record:
    """Read the main line of a file's first game; SgfError if that cannot be."""
    return record_from_tree(read_trees(file, first=True)[0])


def read_trees(file: Path, *, first: bool = False) -> list[Any]:
    """Read all games of a file, or the first alone, as sgfmill's trees.

    SgfError if that cannot be.
    """
    try:
        data = read_bytes(file, MAX_FILE_SIZE)
    except (OSError, ValueError) as error:
        raise SgfError(getattr(error, "strerror", None) or str(error)) from None
    return parse_trees(data, first=first)


def parse_trees(data: bytes, *, first: bool = False, encoding: str | None = None) -> list[Any]:
    """Return the games of a file's content, as sgfmill's trees; SgfError if there are none.

    encoding: what the text is in, whatever the file says of itself; None for what it says.
    """
    try:
        from sgfmill import sgf_grammar
    except ImportError:
        raise SgfError("pip install 'kempelen[gtp]' brings the reader of SGF") from None
    try:
        if first:
            return [_tree(sgf_grammar.parse_sgf_game(data), encoding)]
        return [_tree(each, encoding) for each in sgf_grammar.parse_sgf_collection(data)]
    except (ValueError, KeyError, RecursionError, LookupError) as error:
        raise SgfError(str(error) or "it is no SGF") from None


def _tree(parsed: Any, encoding: str | None) -> Any:
    from sgfmill import sgf

    root = parsed.sequence[0]
    written = root.get("SZ", [b""])
    other = _unsupported_size(written[0])
    if other is not None:
        root["SZ"] = [b"%d" % _sgfmill_size(other)]
    tree = sgf.Sgf_game.from_coarse_game_tree(parsed, encoding)
    if other is not None:
        root["SZ"] = written  # the tree has the same dictionary
    return tree


def new_tree(size: Size) -> Any:
    """Return sgfmill's tree of a game on an empty board."""
    from sgfmill import sgf_grammar

    text = f"(;FF[4]GM[1]CA[UTF-8]SZ[{_size_text(size)}])"
    return _tree(sgf_grammar.parse_sgf_game(text.encode()), None)


def board_size(tree: Any) -> Size:
    """Return the width and the height of the board of one of sgfmill's trees."""
    root = tree.get_root()
    written = root.get_raw("SZ") if root.has_property("SZ") else b""
    return _unsupported_size(written) or (tree.get_size(), tree.get_size())


def _unsupported_size(written: bytes) -> Size | None:
    """Return the width and the height of a board that sgfmill does not know, None of another."""
    if _ONE_POINT.fullmatch(written):
        return 1, 1
    found = _WIDTH_HEIGHT.fullmatch(written)
    return (int(found[1]), int(found[2])) if found else None


def _sgfmill_size(size: Size) -> int:
    """Return the edge of sgfmill's square for a board."""
    return max(*size, MIN_SGFMILL_SIZE)


def set_move(node: Any, player: int, point: Point | None) -> None:
    """Write a move into a node of one of sgfmill's trees."""
    size = board_size(node.owner)
    place = None if point is None else (point[1] + _sgfmill_size(size) - size[1], point[0])
    node.set_move("bw"[player], place)


def read_point(vertex: str) -> Point | None:
    """Return the point of a vertex that is written as in GTP, such as C4; None for a pass."""
    if vertex.lower() == "pass":
        return None
    return COLUMNS.index(vertex[0].upper()), int(vertex[1:]) - 1


def record_from_tree(game: Any) -> Record:
    """Return the main line of one of sgfmill's trees; SgfError if that cannot be."""
    try:
        size = width, height = board_size(game)
        root = game.get_root()
        if (kind := _get_property(root, "GM")) not in (None, GO_GAME_TYPE):
            raise SgfError(f"GM[{kind}] is another game than Go, which is GM[{GO_GAME_TYPE}]")
        board, plays = _setup_and_moves(game)
        first = _player(root.get("PL")) if root.has_property("PL") else None
    except (ValueError, KeyError, RecursionError, LookupError) as error:
        raise SgfError(_describe_unreadable(game) or str(error) or "it is no SGF") from None
    komi = _komi(root)
    if komi is not None and not abs(komi) < MAX_KOMI:
        raise SgfError(f"a komi of {komi:g}")

    def point(place: tuple[int, int]) -> Point:
        row, column = place[0] - _sgfmill_size(size) + height, place[1]
        if row < 0 or column >= width:
            raise SgfError(f"a point beyond the board of {width}x{height}")
        return column, row

    stones: tuple[list[Point], list[Point]] = ([], [])
    for colour, place in board.list_occupied_points():
        stones[_player(colour)].append(point(place))
    moves = [(_player(colour), None if place is None else point(place)) for colour, place in plays]
    if moves:
        first = moves[0][0]
    elif first is None:
        first = int(bool(stones[0]) and not stones[1])
    rules, handicap = _get_property(root, "RU"), _get_property(root, "HA")
    if handicap is not None and not 0 <= handicap <= size[0] * size[1]:
        handicap = None
    return Record(size, komi, stones, first, moves, rules or "", handicap)


def _komi(root: Any) -> float | None:
    """Return the komi, which some write with a comma or in hundredths; None if none can be read."""
    if not root.has_property("KM"):
        return None
    try:
        komi = float(root.get_raw("KM").replace(b",", b"."))
    except ValueError:
        return None
    if isnan(komi):
        return None
    program = root.get_raw("AP").lower() if root.has_property("AP") else b""
    if any(each in program for each in PROGRAMS_WITH_KOMI_IN_HUNDREDTHS):
        komi = KOMI_IN_HUNDREDTHS.get(komi, komi)
    return komi + 0.0


def _setup_and_moves(game: Any) -> tuple[Any, list[tuple[str, tuple[int, int] | None]]]:
    """Return sgfmill's board before the first move, and the moves of the main line.

    Some programs set a handicap up after the root, or write the first move into the same node.
    Raises ValueError for stones that are set up after a move or cannot stand.
    """
    from sgfmill import boards

    board = boards.Board(game.get_size())
    plays: list[tuple[str, tuple[int, int] | None]] = []
    for number, node in enumerate(game.get_main_sequence()):
        if node.has_setup_stones():
            if plays:
                raise ValueError(f"stones are set up after a move, in node {number}")
            if not board.apply_setup(*node.get_setup_stones()):
                raise ValueError("the stones that are set up cannot stand")
        colour, place = node.get_move()
        if colour is not None:
            plays.append((colour, place))
    return board, plays


def _describe_unreadable(game: Any) -> str:
    """Return what of the main line's stones and moves cannot be read; "" if all can be."""
    for number, node in enumerate(game.get_main_sequence()):
        for name in POSITION_PROPERTIES:
            if not node.has_property(name):
                continue
            try:
                node.get(name)
            except (ValueError, LookupError):
                values = b"][".join(node.get_raw_list(name)).decode("utf-8", "replace")
                return f"{name}[{sanitize_line(values)[:MAX_SHOWN_LENGTH]}] in node {number} cannot be read"
    return ""


def _get_property(root: Any, name: str) -> Any:
    """Return a property of the root; None if it has none that can be read."""
    try:
        return root.get(name) if root.has_property(name) else None
    except (ValueError, LookupError):
        return None


def _player(colour: str) -> int:
    return 0 if colour == "b" else 1


def write(record: Record, more: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a game as SGF, on one line. more: further properties of the root, as plain text."""
    root = ";FF[4]GM[1]CA[UTF-8]AP[Kempelen]" + f"SZ[{_size_text(record.size)}]"
    if record.komi is not None:
        root += f"KM[{record.komi:.10g}]"
    said = {"RU": record.rules, **more} if record.rules else more
    root += "".join(f"{name}[{_escape(text)}]" for name, text in said.items())
    # What a reader would take for a handicap where nothing is said, and what he would not see.
    number = record.handicap_stones
    if number > 1 or number != replace(record, handicap=None).handicap_stones:
        root += f"HA[{number}]"
    height = record.size[1]
    for name, stones in zip(("AB", "AW"), record.stones, strict=True):
        if stones:
            root += name + "".join(f"[{sgf_point(point, height)}]" for point in sorted(stones))
    if not record.moves and (record.first or any(record.stones)):
        root += f"PL[{'BW'[record.first]}]"  # else the first move tells
    return f"({root}{_moves(record.moves, height)})"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")


def _size_text(size: Size) -> str:
    width, height = size
    return f"{width}" if width == height else f"{width}:{height}"


def _moves(moves: Iterable[tuple[int, Point | None]], height: int) -> str:
    return "".join(f";{'BW'[player]}[{sgf_point(point, height)}]" for player, point in moves)


def sgf_point(point: Point | None, height: int) -> str:
    """Return a point as SGF counts: column, then row, from the upper left; "" for a pass."""
    if point is None:
        return ""
    column, row = point
    return f"{chr(ord('a') + column)}{chr(ord('a') + height - 1 - row)}"
