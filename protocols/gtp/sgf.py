"""Read and write SGF files for games of Go with the package sgfmill.

The package supports only square boards of at least 2x2 points. Another board is embedded in the
upper left corner of a square board, but its property SZ keeps the original size.
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
from agent.io.message import MessageError
from agent.io.sanitize import sanitize_line
from agent.io.text_files import decode_text

MAX_FILE_SIZE = 4 << 20
GO_GAME_TYPE = 1  # value of GM for Go
POSITION_PROPERTIES = ("AB", "AW", "AE", "B", "W", "PL")
MAX_SHOWN_LENGTH = 40  # maximum length of an invalid value in a message
MIN_SGFMILL_SIZE = 2

# Some Go servers write komi in hundredths of a point or, under Chinese rules, of a stone (two
# points). The AP property identifies them.
PROGRAMS_WITH_KOMI_IN_HUNDREDTHS = (b"foxwq", b"sgfc:2.0")
KOMI_IN_HUNDREDTHS: dict[float, float] = {
    50: 0.5, 275: 5.5, 325: 6.5, 350: 7.0, 375: 7.5, 550: 5.5, 650: 6.5, 700: 7.0, 750: 7.5,
}  # fmt: skip

_WIDTH_HEIGHT = re.compile(rb"\s*([1-9][0-9]?)\s*:\s*([1-9][0-9]?)\s*")
# A property CA that names another encoding than UTF-8.
_OTHER_ENCODING = re.compile(rb"CA\[(?!\s*(utf-?8\s*)?\])", re.IGNORECASE)
_ONE_POINT = re.compile(rb"\s*0*1\s*")

Point = tuple[int, int]


class SgfError(MessageError):
    """Raised when a file is not a valid game of Go. The message gives the reason."""


@dataclass(frozen=True, slots=True)
class SgfGame:
    """The main line of a game. A point is a column and a row, with (0, 0) at the lower left."""

    size: Size  # width and height
    komi: float | None
    stones: tuple[list[Point], list[Point]]  # setup stones of Black and White
    first: int  # the player that moves first
    moves: list[tuple[int, Point | None]]  # players and points, or None for a pass
    rules: str = ""  # property RU
    handicap: int | None = None  # property HA

    @property
    def handicap_stones(self) -> int:
        """Return the property HA, or else the number of Black's setup stones if White has none."""
        black, white = self.stones
        if self.handicap is not None:
            return self.handicap
        return 0 if white else len(black)


def read(file: Path) -> SgfGame:
    """Return the main line of the first game in a file, or raise `SgfError` if it is invalid."""
    return record_from_tree(read_trees(file, first=True)[0])


def read_trees(file: Path, *, first: bool = False) -> list[Any]:
    """Return the games (or only the first) in a file as sgfmill trees, or raise `SgfError`."""
    try:
        data = read_bytes(file, MAX_FILE_SIZE)
    except (OSError, ValueError) as error:
        raise SgfError(getattr(error, "strerror", None) or str(error)) from None
    if _OTHER_ENCODING.search(data):
        return parse_trees(data, first=first)
    return parse_trees(decode_text(data).encode(), first=first, encoding="UTF-8")


def parse_trees(data: bytes, *, first: bool = False, encoding: str | None = None) -> list[Any]:
    """Return the games (or only the first) in SGF data as sgfmill trees, or raise `SgfError`.

    If one of several games is invalid, the list contains an `SgfError` in its place. The `encoding`
    overrides the SGF property CA.
    """
    try:
        from sgfmill import sgf_grammar
    except ImportError:
        from agent.io.requirements import missing_packages  # lazy import: for errors only

        raise SgfError(missing_packages("SGF", "gtp")) from None
    try:
        if first:
            games = [sgf_grammar.parse_sgf_game(data)]
        else:
            games = sgf_grammar.parse_sgf_collection(data)
    except (ValueError, KeyError, RecursionError, LookupError) as error:
        raise SgfError(str(error) or "invalid SGF") from None
    trees = [_tree_or_error(game, encoding) for game in games]
    if len(trees) == 1 and isinstance(trees[0], SgfError):
        raise trees[0]
    return trees


def _tree_or_error(parsed: Any, encoding: str | None) -> Any:
    try:
        return _tree(parsed, encoding)
    except (ValueError, KeyError, RecursionError, LookupError) as error:
        return SgfError(str(error) or "invalid SGF")


def _tree(parsed: Any, encoding: str | None) -> Any:
    from sgfmill import sgf

    root = parsed.sequence[0]
    original = root.get("SZ", [b""])
    size = _unsupported_size(original[0])
    if size is not None:
        root["SZ"] = [b"%d" % _sgfmill_size(size)]
    tree = sgf.Sgf_game.from_coarse_game_tree(parsed, encoding)
    if size is not None:
        root["SZ"] = original  # The tree shares this dictionary.
    return tree


def new_tree(size: Size) -> Any:
    """Return an sgfmill tree for a game on an empty board."""
    from sgfmill import sgf_grammar

    text = f"(;FF[4]GM[1]CA[UTF-8]SZ[{_size_text(size)}])"
    return _tree(sgf_grammar.parse_sgf_game(text.encode()), None)


def board_size(tree: Any) -> Size:
    """Return the width and height of the board in an sgfmill tree."""
    root = tree.get_root()
    value = root.get_raw("SZ") if root.has_property("SZ") else b""
    return _unsupported_size(value) or (tree.get_size(), tree.get_size())


def _unsupported_size(value: bytes) -> Size | None:
    if _ONE_POINT.fullmatch(value):
        return 1, 1
    match = _WIDTH_HEIGHT.fullmatch(value)
    return (int(match[1]), int(match[2])) if match else None


def _sgfmill_size(size: Size) -> int:
    return max(*size, MIN_SGFMILL_SIZE)


def set_move(node: Any, player: int, point: Point | None) -> None:
    """Set the move of a node in an sgfmill tree. If `point` is None, the move is a pass."""
    size = board_size(node.owner)
    coordinates = None if point is None else (point[1] + _sgfmill_size(size) - size[1], point[0])
    node.set_move("bw"[player], coordinates)


def get_move(node: Any) -> tuple[int, Point | None]:
    """Return the player and the move of a node that has one. Raise `SgfError` if it is invalid."""
    colour, coordinates = node.get_move()
    size = board_size(node.owner)
    return _player(colour), None if coordinates is None else _point(coordinates, size)


def _point(coordinates: tuple[int, int], size: Size) -> Point:
    """Return the point for the coordinates of sgfmill, or raise `SgfError` if it is outside."""
    width, height = size
    row, column = coordinates[0] - _sgfmill_size(size) + height, coordinates[1]
    if row < 0 or column >= width:
        raise SgfError("a point is outside the board of {}x{}", width, height)
    return column, row


def read_point(vertex: str) -> Point | None:
    """Return the point for a valid GTP vertex such as C4, or None for a pass."""
    if vertex.lower() == "pass":
        return None
    return COLUMNS.index(vertex[0].upper()), int(vertex[1:]) - 1


def record_from_tree(game: Any) -> SgfGame:
    """Return the main line of an sgfmill tree, or raise `SgfError` if the tree is invalid."""
    try:
        size = board_size(game)
        root = game.get_root()
        if (game_type := _get_property(root, "GM")) not in (None, GO_GAME_TYPE):
            raise SgfError(f"GM[{game_type}]: not a game of Go (expected GM[{GO_GAME_TYPE}])")
        board, plays = _setup_and_moves(game)
        first = _player(root.get("PL")) if root.has_property("PL") else None
    except (ValueError, KeyError, RecursionError, LookupError) as error:
        raise SgfError(_describe_unreadable(game) or str(error) or "invalid SGF") from None
    komi = _komi(root)
    if komi is not None and not abs(komi) < MAX_KOMI:
        raise SgfError("invalid komi {:g} (must be below {:g})", komi, MAX_KOMI)

    stones: tuple[list[Point], list[Point]] = ([], [])
    for colour, at in board.list_occupied_points():
        stones[_player(colour)].append(_point(at, size))
    moves = [(_player(colour), None if at is None else _point(at, size)) for colour, at in plays]
    if moves:
        first = moves[0][0]
    elif first is None:
        first = int(bool(stones[0]) and not stones[1])
    rules, handicap = _get_property(root, "RU"), _get_property(root, "HA")
    if handicap is not None and not 0 <= handicap <= size[0] * size[1]:
        handicap = None
    return SgfGame(size, komi, stones, first, moves, rules or "", handicap)


def _komi(root: Any) -> float | None:
    """Return the komi, or None. Accept decimal commas, and hundredths from some programs."""
    if not root.has_property("KM"):
        return None
    try:
        komi = float(root.get_raw("KM").replace(b",", b"."))
    except ValueError:
        return None
    if isnan(komi):
        return None
    program = root.get_raw("AP").lower() if root.has_property("AP") else b""
    if any(name in program for name in PROGRAMS_WITH_KOMI_IN_HUNDREDTHS):
        komi = KOMI_IN_HUNDREDTHS.get(komi, komi)
    return komi + 0.0


def _setup_and_moves(game: Any) -> tuple[Any, list[tuple[str, tuple[int, int] | None]]]:
    """Return the sgfmill board before the first move, and the moves of the main line."""
    from sgfmill import boards

    board = boards.Board(game.get_size())
    plays: list[tuple[str, tuple[int, int] | None]] = []
    for number, node in enumerate(game.get_main_sequence()):
        if node.has_setup_stones():
            if plays:
                raise ValueError(f"stones are set up after a move, in node {number}")
            if not board.apply_setup(*node.get_setup_stones()):
                raise ValueError("stones without liberties are set up")
        colour, at = node.get_move()
        if colour is not None:
            plays.append((colour, at))
    return board, plays


def _describe_unreadable(game: Any) -> str:
    for number, node in enumerate(game.get_main_sequence()):
        for name in POSITION_PROPERTIES:
            if not node.has_property(name):
                continue
            try:
                node.get(name)
            except (ValueError, LookupError):
                values = b"][".join(node.get_raw_list(name)).decode("utf-8", "replace")
                shown = sanitize_line(values)[:MAX_SHOWN_LENGTH]
                return f"{name}[{shown}]: invalid value in node {number}"
    return ""


def _get_property(root: Any, name: str) -> Any:
    try:
        return root.get(name) if root.has_property(name) else None
    except (ValueError, LookupError):
        return None


def _player(colour: str) -> int:
    return 0 if colour == "b" else 1


def write(record: SgfGame, more: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a game as one line of SGF. The mapping `more` contains additional root properties.

    The values in `more` must not be escaped.
    """
    root = ";FF[4]GM[1]CA[UTF-8]AP[Kempelen]" + f"SZ[{_size_text(record.size)}]"
    if record.komi is not None:
        root += f"KM[{record.komi:.10g}]"
    properties = {"RU": record.rules, **more} if record.rules else more
    root += "".join(f"{name}[{_escape(text)}]" for name, text in properties.items())
    # Write HA unless a reader would infer the same number of stones.
    count = record.handicap_stones
    if count > 1 or count != replace(record, handicap=None).handicap_stones:
        root += f"HA[{count}]"
    height = record.size[1]
    for name, stones in zip(("AB", "AW"), record.stones, strict=True):
        if stones:
            root += name + "".join(f"[{sgf_point(point, height)}]" for point in sorted(stones))
    if not record.moves and (record.first or any(record.stones)):
        root += f"PL[{'BW'[record.first]}]"  # the first move determines it
    return f"({root}{_moves(record.moves, height)})"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")


def _size_text(size: Size) -> str:
    width, height = size
    return f"{width}" if width == height else f"{width}:{height}"


def _moves(moves: Iterable[tuple[int, Point | None]], height: int) -> str:
    return "".join(f";{'BW'[player]}[{sgf_point(point, height)}]" for player, point in moves)


def sgf_point(point: Point | None, height: int) -> str:
    """Return a point in SGF notation, which counts from the upper left corner, or "" for a pass."""
    if point is None:
        return ""
    column, row = point
    return f"{chr(ord('a') + column)}{chr(ord('a') + height - 1 - row)}"
