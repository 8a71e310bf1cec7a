"""Repertoires: editable YAML files with named lines of play.

A file is a list of lines. A line has `moves` in SAN, with optional move numbers. The optional keys
are:

    eco      ECO code                      weight   relative frequency, 1 to 1000
    name     name of the opening           comment  remark for the reader
    lines    lines that continue this one

A nested line continues the moves of its parent. It inherits the name, the ECO code and the weight,
which is 10 by default. If several lines contain the same move in the same position, the greatest
weight applies. A move followed by `?`, `??` or `?!` in any line is never played, but may have
replies. Other annotations are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import chess
import yaml
from chess.polyglot import zobrist_hash

from agent.io import safe_yaml
from agent.io.read_errors import convert_read_errors
from agent.io.safe_yaml import YamlError
from agent.io.text_files import read_text
from openings.book_common import DEFAULT_WEIGHT, MAX_WEIGHT, BookError
from openings.names import OpeningName
from openings.polyglot import Entry, encode_move

# Nesting of YAML nodes; each nested line adds two.
MAX_DEPTH = 200
SUFFIXES = (".yaml", ".yml")

NO_NAME = OpeningName("", "")
_KEYS = ("eco", "name", "moves", "weight", "comment", "lines")
_ECO = re.compile(r"[A-E][0-9][0-9]")
_MOVE_NUMBER = re.compile(r"(\d+)(\.+)")
_ANNOTATION = re.compile(r"[!?]*$")


@dataclass(frozen=True, slots=True)
class Line:
    """A line with all its moves from the start position.

    - `own_from_ply`: the number of moves inherited from the parent line.
    - `has_own_name`: whether the line names its final position instead of inheriting a name.
    - `is_leaf`: whether no nested lines continue this line.
    - `avoided_plies`: the indexes of moves that must not be played.
    - `location`: the file and line number, for messages.
    """

    location: str = ""
    name: OpeningName = NO_NAME
    moves: tuple[chess.Move, ...] = ()
    own_from_ply: int = 0
    has_own_name: bool = False
    is_leaf: bool = True
    avoided_plies: frozenset[int] = frozenset()
    weight: int = DEFAULT_WEIGHT
    comment: str = ""

    def board(self) -> chess.Board:
        """Return the final position of the line, with its move stack."""
        board = chess.Board()
        for move in self.moves:
            board.push(move)
        return board


@dataclass(slots=True)
class Repertoire:
    """Merged lines: move weights and opening names by Polyglot key of the position."""

    weights: dict[int, dict[int, int]] = field(default_factory=dict)
    names: dict[int, OpeningName] = field(default_factory=dict)

    def entries(self) -> list[Entry]:
        """Return the repertoire as entries of a Polyglot book, sorted by key."""
        return [
            Entry(key, raw_move, weight)
            for key, moves in sorted(self.weights.items())
            for raw_move, weight in moves.items()
        ]


def read(paths: Iterable[Path]) -> list[Line]:
    """Read lines from YAML files, or folders of them. Raise BookError if a file is invalid."""
    return [line for path in paths for file in _files(path) for line in _read_file(file)]


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES)
    if not files:
        raise BookError(f"{path}: no YAML files in this folder")
    return files


def _read_file(path: Path) -> Iterator[Line]:
    with convert_read_errors(path, BookError):
        text = read_text(path)
    try:
        _check_depth(text)
        root = safe_yaml.compose(text, _Loader)
        _check_size(root)
    except YamlError as error:
        raise BookError(f"{path}: {error}") from None
    if root is not None:
        yield from _read_lines(root, Line(), chess.Board(), path)


def _check_depth(text: str) -> None:
    """Raise YamlError if `text` is nested deeply enough to crash the recursive C loader."""
    depth = 0
    with suppress(yaml.YAMLError):  # Other errors are left to the loader.
        for event in yaml.parse(text, _Loader):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > MAX_DEPTH:
                raise YamlError("nested too deeply")


def _check_size(root: yaml.Node | None) -> None:
    """Raise YamlError if aliases are cyclic or expand to too many values."""
    count, waiting = 0, [(root, 1)]
    while waiting:
        node, depth = waiting.pop()
        count += 1
        if depth > MAX_DEPTH or count > safe_yaml.MAX_VALUES:
            raise YamlError("nested too deeply, or too large after expanding references")
        if isinstance(node, yaml.SequenceNode):
            waiting += ((child, depth + 1) for child in node.value)
        elif isinstance(node, yaml.MappingNode):
            waiting += ((value, depth + 1) for _, value in node.value)


_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _read_lines(node: yaml.Node, parent: Line, board: chess.Board, path: Path) -> Iterator[Line]:
    if not isinstance(node, yaml.SequenceNode):
        raise BookError(f"{_location(node, path)}: expected a list of lines")
    for item in node.value:
        yield from _read_line(item, parent, board, path)


def _read_line(node: yaml.Node, parent: Line, board: chess.Board, path: Path) -> Iterator[Line]:
    """Yield a line and its nested lines. `board` is restored at the end."""
    location = _location(node, path)
    if not isinstance(node, yaml.MappingNode):
        raise BookError(
            f"{location}: expected a line of play (moves, and optionally eco, name, ...)"
        )
    values = {}
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else "[...]"
        if name not in _KEYS:
            raise BookError(
                f"{location}: unknown key {name!r} (expected one of: {', '.join(_KEYS)})"
            )
        values[name] = value
    texts = {
        key: _text(values[key], key, path) for key in _KEYS if key in values and key != "lines"
    }
    if not texts.get("moves"):
        raise BookError(f"{location}: missing moves")
    moves, avoided = _parse_moves(board, texts["moves"], location)
    line = replace(
        parent,
        location=location,
        name=_name(parent, texts, location),
        moves=parent.moves + moves,
        own_from_ply=len(parent.moves),
        has_own_name="name" in texts or "eco" in texts,
        is_leaf="lines" not in values,
        avoided_plies=parent.avoided_plies | {len(parent.moves) + index for index in avoided},
        weight=_weight(texts, location) if "weight" in texts else parent.weight,
        comment=texts.get("comment", ""),
    )
    yield line
    if "lines" in values:
        yield from _read_lines(values["lines"], line, board, path)
    for _ in moves:
        board.pop()


def _location(node: yaml.Node, path: Path) -> str:
    return f"{path}, line {node.start_mark.line + 1}"


def _text(node: yaml.Node, key: str, path: Path) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise BookError(f"{_location(node, path)}: {key} must be a single value")
    return str(node.value).strip()


def _weight(texts: dict[str, str], location: str) -> int:
    text = texts["weight"]
    if not text.isdecimal() or not 1 <= int(text) <= MAX_WEIGHT:
        raise BookError(f"{location}: weight must be from 1 to {MAX_WEIGHT} (got {text!r})")
    return int(text)


def _name(parent: Line, texts: dict[str, str], location: str) -> OpeningName:
    eco = texts.get("eco", parent.name.eco)
    if eco and not _ECO.fullmatch(eco):
        raise BookError(f"{location}: invalid ECO code {eco!r} (expected A00 to E99)")
    title = texts.get("name", parent.name.title)
    if not title.isprintable():
        raise BookError(f"{location}: name must be one line of printable characters")
    return OpeningName(eco, title)


def _parse_moves(
    board: chess.Board, text: str, location: str
) -> tuple[tuple[chess.Move, ...], list[int]]:
    """Play SAN moves on `board`. Return the moves, and the indexes of moves to be avoided."""
    moves: list[chess.Move] = []
    avoided = []
    for token in text.split():
        san = token
        if number := _MOVE_NUMBER.match(token):
            san = token[number.end() :]
            if not _is_due_number(board, int(number[1]), number[2]):
                raise BookError(
                    f"{location}: wrong move number {token} (expected {_format_number(board)})"
                )
        if not san:
            continue
        mark = _ANNOTATION.search(san)
        assert mark
        san = san[: mark.start()]
        try:
            move = board.parse_san(san)
        except ValueError:
            raise BookError(
                f"{location}: {_format_number(board)} {san}: illegal move in {board.fen()}"
            ) from None
        if mark[0] in ("?", "??", "?!"):
            avoided.append(len(moves))
        moves.append(move)
        board.push(move)
    if not moves:
        raise BookError(f"{location}: missing moves")
    return tuple(moves), avoided


def _is_due_number(board: chess.Board, number: int, dots: str) -> bool:
    """Return whether a move number matches the board. `1.` is also accepted before a Black move."""
    return number == board.fullmove_number and (len(dots) == 1 or not board.turn)


def _format_number(board: chess.Board) -> str:
    return f"{board.fullmove_number}{'.' if board.turn else '...'}"


def build(lines: Iterable[Line]) -> Repertoire:
    """Merge lines by position. Raise BookError if two lines give one position different names."""
    repertoire = Repertoire()
    named_at: dict[int, str] = {}
    avoided: set[tuple[int, int]] = set()
    for line in lines:
        board = chess.Board()
        for ply, move in enumerate(line.moves):
            if ply >= line.own_from_ply:
                key, raw_move = zobrist_hash(board), encode_move(board, move)
                weights = repertoire.weights.setdefault(key, {})
                weights[raw_move] = max(weights.get(raw_move, 0), line.weight)
                if ply in line.avoided_plies:
                    avoided.add((key, raw_move))
            board.push(move)
        if line.has_own_name:
            key = zobrist_hash(board)
            if repertoire.names.setdefault(key, line.name) != line.name:
                raise BookError(
                    f"{line.location}: the position of {line.name} already has the name "
                    f"{repertoire.names[key]} ({named_at[key]})"
                )
            named_at.setdefault(key, line.location)
    for key, raw_move in avoided:
        repertoire.weights[key][raw_move] = 0
    return repertoire
