"""Read and write games of Go in SGF."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from unicodedata import normalize

from agent.games.go import COLUMNS, MAX_KOMI, MAX_SIZE, Size
from agent.games.stones import EMPTY, Stones, iter_bits, shape
from agent.io.files import read_bytes
from agent.io.message import MessageError
from agent.io.sanitize import sanitize_line
from protocols.gtp.handicap import handicap_fits, star_points
from protocols.gtp.sgf_tree import COLOURS, Node, decode_sgf, escape, parse
from protocols.rulesets import read_sgf_rules

# A file of 32 MiB needs up to 3 GB of memory.
MAX_FILE_SIZE = 32 << 20
GO_GAME_TYPE = "1"  # value of GM for Go
MAX_SHOWN_LENGTH = 40  # maximum length of an invalid value in a message
DEFAULT_SIZE = 19
MAX_PASS_TT_SIZE = 19  # maximum size of a board on which "tt" is a pass
PASSES = ("zz", "pass")  # also written instead of ""
# Maximum number of places in a game where stones are set up after a move.
MAX_SECTIONS = 1000
SETUP_PROPERTIES: dict[str, int | None] = {"AB": 0, "AW": 1, "AE": None}
PLAYER_NAMES = {"b": 0, "black": 0, "1": 0, "w": 1, "white": 1, "2": 1}

# Some Go servers write komi in hundredths of a point or, under Chinese rules, of a stone (two
# points). The AP property identifies them.
PROGRAMS_WITH_KOMI_IN_HUNDREDTHS = ("foxwq", "sgfc:2.0")
KOMI_IN_HUNDREDTHS: dict[float, float] = {
    50: 0.5, 275: 5.5, 325: 6.5, 350: 7.0, 375: 7.5, 550: 5.5, 650: 6.5, 700: 7.0, 750: 7.5,
}  # fmt: skip
# GoGoD's collection has komi in stones for games by Chinese rules, such as KM[3.75].
COLLECTION_WITH_KOMI_IN_STONES = "GoGoD"
POINTS_PER_STONE = 2

_SIZE = re.compile(
    r"0*([1-9][0-9]?)(?:\s*[:x\xd7*,]\s*0*([1-9][0-9]?))?(?!\s*[0-9.:x])", re.IGNORECASE
)
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_POINTS = re.compile(r"[A-Za-z]{2}(?::[A-Za-z]{2})?")
# A number with a unit: "6.5目" and "6目半" are 6.5 points; "3.75子" and "黑贴3又3/4子" are 3.75
# stones, which are 7.5 points. The groups are a word for komi that White gives, the sign, a number,
# a fraction, stones, and half.
_KOMI = re.compile(
    r"((?:逆|白贴|白貼|reversed? )?)[^-+0-9半반十百]{0,8}([-+]?)"
    r"(?:([0-9]+[.,][0-9]+|[0-9]+(?![0-9]*\s*/|[.,][0-9]))(?:\s*[又と]\s*|\s+)?)?"
    r"(?:([0-9]{1,4})/([1-9][0-9]{0,3}))?\s*(子|zi\b|stones?\b)?[^0-9半반十百]{0,3}([半반])?",
    re.IGNORECASE,
)
_VULGAR_FRACTION = re.compile("[¼¾⅐-⅞]")
_PARTS_OF = re.compile("([0-9]{1,4})分之([0-9]{1,4})")  # in Chinese, the denominator comes first
_CHINESE_DIGITS = str.maketrans("零一二三四五六七八九", "0123456789")
# A fraction with this denominator is one of stones, because points are counted in halves.
QUARTERS = "4"

Point = tuple[int, int]


class SgfError(MessageError):
    """Raised when a file is not a valid game of Go. The message gives the reason."""


@dataclass(frozen=True, slots=True)
class SgfGame:
    """A game, or a section of it. A point is a column and a row, with (0, 0) at the lower left."""

    size: Size  # width and height
    komi: float | None
    stones: tuple[list[Point], list[Point]]  # setup stones of Black and White
    first: int  # the player that moves first
    moves: list[tuple[int, Point | None]]  # players and points, or None for a pass
    rules: str = ""  # property RU
    handicap: int | None = None  # property HA
    start: int = 0  # number of moves in the file before this section
    prisoners: tuple[int, int] = (0, 0)  # captured by Black and by White before this section

    @property
    def handicap_stones(self) -> int:
        """Return the property HA, or else the number of Black's setup stones if White has none."""
        black, white = self.stones
        if self.handicap is not None:
            return self.handicap
        return 0 if white else len(black)


def read(file: Path, until: int | str | None = None) -> SgfGame:
    """Return the main line of the first game in a file, or raise `SgfError` if it is invalid.

    `until` ends the game before a move: a number (the first move is 1), or a GTP vertex for the
    first move there. If stones are set up after a move, the result is the section of the game that
    starts with them.
    """
    (tree,) = islice(_parse_file(file), 1)
    sections = read_sections(tree)
    if until is None:
        return sections[-1]
    count = _moves_before(sections, until) if isinstance(until, str) else max(until - 1, 0)
    section = [section for section in sections if section.start <= count][-1]
    return replace(section, moves=section.moves[: count - section.start])


def _moves_before(sections: Sequence[SgfGame], vertex: str) -> int:
    point = read_point(vertex)
    for section in sections:
        for number, (_, move) in enumerate(section.moves, section.start):
            if move == point:
                return number
    raise SgfError("no move at {}", vertex)


def read_trees(file: Path) -> list[Node]:
    """Return the games in a file, or raise `SgfError`."""
    return list(_parse_file(file))


def _parse_file(file: Path) -> Iterable[Node]:
    try:
        data = read_bytes(file, MAX_FILE_SIZE)
    except (OSError, ValueError) as error:
        raise SgfError(getattr(error, "strerror", None) or str(error)) from None
    return _require_game(parse(decode_sgf(data)))


def parse_trees(text: str) -> list[Node]:
    """Return the games in an SGF text, or raise `SgfError`."""
    return list(_require_game(parse(text)))


def _require_game(games: Iterable[Node]) -> Iterable[Node]:
    game = None
    for game in games:
        yield game
    if game is None:
        raise SgfError("no SGF data found")


def read_main_section(tree: Node) -> SgfGame:
    """Return the section of a game with the most moves, or raise `SgfError`."""
    return max(read_sections(tree), key=lambda section: len(section.moves))


def read_sections(tree: Node) -> list[SgfGame]:
    """Return the main line of a game, or raise `SgfError` if it is invalid.

    A section ends where stones are set up after a move. The next one starts with that position.
    """
    header = list(_header(tree))
    game_types = [text for text in _texts(header, "GM") if text]
    if game_types and game_types[0].lstrip("0") != GO_GAME_TYPE:
        shown = sanitize_line(game_types[0])[:MAX_SHOWN_LENGTH]
        raise SgfError("GM[{}]: not a game of Go (expected GM[{}])", shown, GO_GAME_TYPE)
    line = _MainLine(_size(header), _handicap(header))
    for number, node in enumerate(tree.main_line()):
        line.add(node, number)
    komi, rules = _komi(header), _rules(header)
    return [replace(section, komi=komi, rules=rules) for section in line.sections()]


def main_moves(tree: Node) -> list[Node]:
    """Return the nodes of the moves in the main line, one for each move."""
    return [node for node in tree.main_line() if node.colour]


def get_move(node: Node, size: Size) -> tuple[int, Point | None]:
    """Return the player and the move of a node that has one. Raise `SgfError` if it is invalid."""
    return COLOURS.index(node.colour), _move_point(node, size)


def board_size(tree: Node) -> Size:
    """Return the width and height of the board, or raise `SgfError`."""
    return _size(_header(tree))


def _header(tree: Node) -> Iterable[Node]:
    """Yield the nodes before the first move: some programs write a game's properties into them."""
    yield tree
    if not tree.colour:
        yield from takewhile(lambda node: not node.colour, islice(tree.main_line(), 1, None))


def _texts(header: Iterable[Node], name: str) -> Iterable[str]:
    """Yield all values of a property. Some programs repeat it, or write an empty value first."""
    for node in header:
        yield from node.texts(name)


def _size(header: Iterable[Node]) -> Size:
    text = next(filter(None, _texts(header, "SZ")), str(DEFAULT_SIZE))
    match = _SIZE.match(_with_digits(text))
    shown = sanitize_line(text)[:MAX_SHOWN_LENGTH]
    if match is None:
        raise SgfError("SZ[{}]: invalid board size", shown)
    width, height = int(match[1]), int(match[2] or match[1])
    if max(width, height) > len(_LETTERS):
        raise SgfError("size out of range: {}", shown)
    return width, height


def _handicap(header: Sequence[Node]) -> int | None:
    width, height = _size(header)
    for text in map(_with_digits, _texts(header, "HA")):
        if (match := re.match(r"[0-9]{1,4}(?![0-9.])", text)) and int(match[0]) <= width * height:
            return int(match[0])
    return None


def _rules(header: Sequence[Node]) -> str:
    """Return the first known rules, or else the first text of the property RU."""
    texts = [text for text in _texts(header, "RU") if text]
    return next(filter(read_sgf_rules, texts), texts[0] if texts else "")


def _komi(header: Sequence[Node]) -> float | None:
    """Return the komi, or None. Accept decimal commas, units, and hundredths from some programs."""
    # In files of some Chinese servers, KO in the first node is the komi.
    values = map(_komi_from, (*_texts(header, "KM"), *_texts(header[:1], "KO")))
    known = [value for value in values if value is not None]
    if not known:
        return None
    komi = next(filter(isfinite, known), known[0])
    programs = " ".join(_texts(header, "AP")).lower()
    if any(name in programs for name in PROGRAMS_WITH_KOMI_IN_HUNDREDTHS):
        komi = KOMI_IN_HUNDREDTHS.get(komi, komi)
    source = " ".join(_texts(header, "US"))
    if 4 * komi % 2 == 1 and COLLECTION_WITH_KOMI_IN_STONES in source:
        komi *= POINTS_PER_STONE
    if not abs(komi) < MAX_KOMI:
        raise SgfError("invalid komi {:g} (must be below {:g})", komi, MAX_KOMI)
    return komi + 0.0


def _with_digits(text: str) -> str:
    """Return the text with full-width and Chinese digits, and fractions such as ¾, as ASCII."""
    return normalize("NFKC", text).replace("\N{FRACTION SLASH}", "/").translate(_CHINESE_DIGITS)


def _komi_from(text: str) -> float | None:
    text = _VULGAR_FRACTION.sub(r" \g<0>", text.replace("½", "半"))
    text = _with_digits(text)
    with suppress(ValueError):
        return float(text.replace(",", "."))
    match = _KOMI.match(_PARTS_OF.sub(r"\2/\1", text))
    if match is None or not any(match.groups()[2:]):
        return None
    reverse, sign, whole, numerator, denominator, stones, half = match.groups()
    komi = float((whole or "0").replace(",", ".")) + (0.5 if half else 0)
    if denominator:
        komi += int(numerator) / int(denominator)
    if stones or denominator == QUARTERS:
        komi *= POINTS_PER_STONE
    return -komi if (sign == "-") != bool(reverse) else komi


class _MainLine:
    """The sections of a main line, to which nodes are added in order."""

    def __init__(self, size: Size, handicap: int | None) -> None:
        self._size = size
        self._handicap = handicap
        self._done: list[SgfGame] = []
        self._stones: dict[Point, int] = {}  # players by point, before the first move
        self._first: int | None = None
        self._moves: list[tuple[int, Point | None]] = []
        self._start = 0
        self._prisoners = [0, 0]
        # A player to move that a node without a move names, until the next move.
        self._next: int | None = None
        # The position, or None if it must be computed from the setup stones and the moves.
        self._board: Stones | None = None

    def sections(self) -> list[SgfGame]:
        if not self._moves and not self._done:
            self._place_handicap()
        if self._moves and self._next not in (None, 1 - self._moves[-1][0]):
            self._begin_section()
            self._first = self._next
        return [*self._done, self._section()]

    def add(self, node: Node, number: int) -> None:
        """Add the stones and moves of a node. Raise `SgfError` if a value is invalid."""
        edits = [
            (point, player)
            for name, player in SETUP_PROPERTIES.items()
            for point in _setup_points(node, name, self._size, number)
        ]
        if edits:
            if self._moves:
                self._begin_section()
            for point, player in edits:
                if player is None:
                    self._stones.pop(point, None)
                else:
                    self._stones[point] = player
            self._board = None
        if node.colour:
            move = _move_point(node, self._size, number)
            self._play(COLOURS.index(node.colour), move, is_forced="KO" in node.properties)
        elif turn := node.get("PL"):
            if turn.lower() not in PLAYER_NAMES:
                raise _invalid(node, "PL", number)
            self._next = PLAYER_NAMES[turn.lower()]
            if not self._moves:
                self._first = self._next

    def _play(self, player: int, point: Point | None, is_forced: bool) -> None:
        """Add a move. A forced one is played even if it is illegal, see property KO."""
        if player and not self._moves and not self._done:
            self._place_handicap()
        self._next = None
        if is_forced and self._board is None:
            self._board = self._position()
        if self._board is not None and point is not None:
            vertex = self._board.shape.vertex(*point)
            if self._board.board[vertex] != EMPTY and not is_forced:
                raise SgfError("move {} is illegal", self._start + len(self._moves) + 1)
            if self._board.board[vertex] != EMPTY or self._board.is_suicide(vertex, player + 1):
                self._force(player, point)
                return
            self._board.put(vertex, player + 1)
        self._moves.append((player, point))

    def _force(self, player: int, point: Point) -> None:
        """Play a move that cannot be in a section: begin a section with the resulting position."""
        self._begin_section()
        self._start += 1
        self._first = 1 - player
        self._stones[point] = player
        geometry = shape(*self._size)
        for side in (1 - player, player):
            sets = [0, 0]
            for (column, row), owner in self._stones.items():
                sets[owner] |= 1 << geometry.vertex(column, row)
            rest = sets[side]
            while rest:
                chain = rest & -rest
                chain |= geometry.flood_fill(chain, sets[side])
                rest &= ~chain
                if not geometry.adjacent(chain) & ~(sets[0] | sets[1]):
                    self._prisoners[1 - side] += chain.bit_count()
                    for vertex in iter_bits(chain):
                        del self._stones[geometry.coordinates(vertex)]
        self._board = None

    def _begin_section(self) -> None:
        if len(self._done) == MAX_SECTIONS:
            raise SgfError("stones are set up too often (at most {} times)", MAX_SECTIONS)
        board = self._board = self._board or self._position()
        self._done.append(self._section())
        for player in (0, 1):
            placed = sum(owner == player for owner in self._stones.values())
            placed += sum(mover == player and move is not None for mover, move in self._moves)
            self._prisoners[1 - player] += placed - board.sets[player + 1].bit_count()
        if self._moves:
            self._first = 1 - self._moves[-1][0]
        self._start += len(self._moves)
        self._moves = []
        self._stones = {
            board.shape.coordinates(vertex): player
            for player in (0, 1)
            for vertex in iter_bits(board.sets[player + 1])
        }

    def _section(self) -> SgfGame:
        self._position(moves=False)  # checks the stones
        black, white = (
            sorted(point for point, owner in self._stones.items() if owner == player)
            for player in (0, 1)
        )
        first = int(bool(black) and not white) if self._first is None else self._first
        if self._moves:
            first = self._moves[0][0]
        handicap = self._done[0].handicap_stones if self._done else self._handicap
        return SgfGame(
            self._size,
            None,
            (black, white),
            first,
            self._moves,
            "",
            handicap,
            self._start,
            (self._prisoners[0], self._prisoners[1]),
        )

    def _position(self, moves: bool = True) -> Stones:
        """Return the position after the setup and the moves. Raise `SgfError` if it is illegal."""
        board = Stones(*self._size)
        for point, player in self._stones.items():
            vertex = board.shape.vertex(*point)
            if board.is_suicide(vertex, player + 1) or board.put(vertex, player + 1):
                raise SgfError("stones without liberties are set up")
        for number, (player, move) in enumerate(self._moves if moves else (), self._start + 1):
            if move is not None:
                vertex = board.shape.vertex(*move)
                if board.board[vertex] != EMPTY or board.is_suicide(vertex, player + 1):
                    raise SgfError("move {} is illegal", number)
                board.put(vertex, player + 1)
        return board

    def _place_handicap(self) -> None:
        """Place the stones of a handicap that the file names, but does not set up."""
        if self._handicap and not self._stones and handicap_fits(*self._size, self._handicap):
            self._stones = dict.fromkeys(star_points(*self._size, self._handicap), 0)
            self._board = None
            if self._first is None:
                self._first = 1


def _move_point(node: Node, size: Size, number: int = 0) -> Point | None:
    text = _lower(node.texts(node.colour)[0], size)
    if not text or (text == "tt" and max(size) <= MAX_PASS_TT_SIZE):
        return None
    if text in PASSES and max(size) <= MAX_SIZE:
        return None
    points = _read_points(text, size)
    if len(points) != 1:
        raise _invalid(node, node.colour, number)
    return points[0]


def _setup_points(node: Node, name: str, size: Size, number: int) -> list[Point]:
    points = []
    for text in filter(None, node.texts(name)):
        found = _read_points(text, size)
        if not found:
            raise _invalid(node, name, number)
        points += found
    return points


def _lower(text: str, size: Size) -> str:
    """Remove spaces. Capital letters mean small ones on boards that do not need both."""
    text = re.sub(r"\s", "", text)
    return text.lower() if max(size) <= len(_LETTERS) // 2 else text


def _read_points(text: str, size: Size) -> list[Point]:
    """Return the points in a value such as "dd" or "dd:pp", or [] if it is invalid."""
    width, height = size
    match = _POINTS.fullmatch(_lower(text, size))
    if match is None:
        return []
    edges = [_LETTERS.index(letter) for letter in match[0] if letter != ":"]
    columns, rows = sorted(edges[::2]), sorted(edges[1::2])
    if columns[-1] >= width or rows[-1] >= height:
        # Only a point that a square board of the same length has is plausible.
        if max(columns[-1], rows[-1]) < max(width, height, 2):
            raise SgfError("a point is outside the board of {}x{}", width, height)
        return []
    return [
        (column, height - 1 - row)
        for column in range(columns[0], columns[-1] + 1)
        for row in range(rows[0], rows[-1] + 1)
    ]


def _invalid(node: Node, name: str, number: int) -> SgfError:
    shown = sanitize_line("][".join(node.properties[name]))[:MAX_SHOWN_LENGTH]
    return SgfError("{}[{}]: invalid value in node {}", name, shown, number)


def read_point(vertex: str) -> Point | None:
    """Return the point for a valid GTP vertex such as C4, or None for a pass."""
    if vertex.lower() == "pass":
        return None
    return COLUMNS.index(vertex[0].upper()), int(vertex[1:]) - 1


def write(record: SgfGame, more: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a game as one line of SGF. The mapping `more` contains additional root properties.

    The values in `more` must not be escaped.
    """
    root = ";FF[4]GM[1]CA[UTF-8]AP[Kempelen]" + f"SZ[{size_text(record.size)}]"
    if record.komi is not None:
        root += f"KM[{record.komi:.10g}]"
    properties = {"RU": record.rules, **more} if record.rules else more
    root += "".join(f"{name}[{escape(text)}]" for name, text in properties.items())
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


def size_text(size: Size) -> str:
    width, height = size
    return f"{width}" if width == height else f"{width}:{height}"


def _moves(moves: Iterable[tuple[int, Point | None]], height: int) -> str:
    return "".join(f";{'BW'[player]}[{sgf_point(point, height)}]" for player, point in moves)


def set_move(node: Node, player: int, point: Point | None, size: Size) -> None:
    """Set the move of a node. A pass is written for old readers as "tt", if possible."""
    is_pass_tt = point is None and max(size) <= MAX_PASS_TT_SIZE
    node.set("BW"[player], "tt" if is_pass_tt else sgf_point(point, size[1]))


def sgf_point(point: Point | None, height: int) -> str:
    """Return a point in SGF notation, which counts from the upper left corner, or "" for a pass."""
    if point is None:
        return ""
    column, row = point
    return _LETTERS[column] + _LETTERS[height - 1 - row]
