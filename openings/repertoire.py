"""The repertoire that people read and edit: lines of play in YAML, by name.

A file is a list of lines. A line has `moves` (SAN; move numbers may be left out, but must be right
where they are), and it may have

    eco      its ECO code                 weight   how often it is chosen, 1 to 1000
    name     what it is called            comment  a remark for the reader
    lines    lines that go on from its end

A line below another continues its moves; it has the name of the line above, and its ECO code, if
it gives none of its own.

The weight holds for all moves that the line itself lists, and for the lines below it that give
none of their own; it is 10 at the top. Where lines meet, also by transposition, the greater
weight counts. A move with `?` or `?!` behind it is answered but never played, wherever it is
listed; other marks are remarks.
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
from agent.io.files import read_text
from agent.io.read_errors import convert_read_errors
from agent.io.safe_yaml import YamlError
from openings.book_common import DEFAULT_WEIGHT, MAX_WEIGHT, BookError
from openings.names import OpeningName
from openings.polyglot import Entry, encode_move

# Nodes within nodes: two for each line below another.
MAX_DEPTH = 200
SUFFIXES = (".yaml", ".yml")

NO_NAME = OpeningName("", "")
_KEYS = ("eco", "name", "moves", "weight", "comment", "lines")
_ECO = re.compile(r"[A-E][0-9][0-9]")
_MOVE_NUMBER = re.compile(r"(\d+)(\.+)")
_ANNOTATION = re.compile(r"[!?]*$")


@dataclass(frozen=True, slots=True)
class Line:
    """One line, all its moves from the start position.

    own: how many moves lead to where the line begins to say something. titled: its end is where
    the name belongs; otherwise the name is that of a line above. ends: no line goes on from it.
    avoided: the places of moves that are not to be played. where: file and line, for messages.
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
        """Return the position at the end, with the moves that lead there."""
        board = chess.Board()
        for move in self.moves:
            board.push(move)
        return board


@dataclass(slots=True)
class Repertoire:
    """What lines amount to: moves with weights by position, and names by position."""

    weights: dict[int, dict[int, int]] = field(default_factory=dict)
    names: dict[int, OpeningName] = field(default_factory=dict)

    def entries(self) -> list[Entry]:
        """Return the entries of a Polyglot book, sorted by key."""
        return [
            Entry(key, raw_move, weight)
            for key, moves in sorted(self.weights.items())
            for raw_move, weight in moves.items()
        ]


def read(paths: Iterable[Path]) -> list[Line]:
    """Read files, and the files of folders by name; raises BookError where one is wrong."""
    return [line for path in paths for file in _files(path) for line in _read_file(file)]


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(each for each in path.iterdir() if each.suffix in SUFFIXES)
    if not found:
        raise BookError(f"{path}: there is no YAML file in this folder")
    return found


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
    """Refuse what is nested so deeply that the fast loader, which calls itself, would crash."""
    depth = 0
    with suppress(yaml.YAMLError):  # which the loader meets too
        for event in yaml.parse(text, _Loader):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > MAX_DEPTH:
                raise YamlError("it is nested too deeply")


def _check_size(root: yaml.Node | None) -> None:
    """Refuse what refers to itself, or by references to more than memory holds."""
    count, waiting = 0, [(root, 1)]
    while waiting:
        node, depth = waiting.pop()
        count += 1
        if depth > MAX_DEPTH or count > safe_yaml.MAX_VALUES:
            raise YamlError("by its references it is nested too deeply, or too large")
        if isinstance(node, yaml.SequenceNode):
            waiting += ((each, depth + 1) for each in node.value)
        elif isinstance(node, yaml.MappingNode):
            waiting += ((value, depth + 1) for _, value in node.value)


_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _read_lines(node: yaml.Node, parent: Line, board: chess.Board, path: Path) -> Iterator[Line]:
    if not isinstance(node, yaml.SequenceNode):
        raise BookError(f"{_location(node, path)}: expected a list of lines")
    for item in node.value:
        yield from _read_line(item, parent, board, path)


def _read_line(node: yaml.Node, parent: Line, board: chess.Board, path: Path) -> Iterator[Line]:
    """Read one line and those below it; the board, at the end of `above`, is left as it was."""
    location = _location(node, path)
    if not isinstance(node, yaml.MappingNode):
        raise BookError(f"{location}: expected a line of play: moves, and perhaps eco, name, ...")
    values = {}
    for key, value in node.value:
        word = key.value if isinstance(key, yaml.ScalarNode) else "[...]"
        if word not in _KEYS:
            raise BookError(f"{location}: unknown word {word!r}; a line has {', '.join(_KEYS)}")
        values[word] = value
    texts = {
        key: _text(values[key], key, path) for key in _KEYS if key in values and key != "lines"
    }
    if not texts.get("moves"):
        raise BookError(f"{location}: a line needs moves")
    moves, avoided = _parse_moves(board, texts["moves"], location)
    line = replace(
        parent,
        location=location,
        name=_name(parent, texts, location),
        moves=parent.moves + moves,
        own_from_ply=len(parent.moves),
        has_own_name="name" in texts or "eco" in texts,
        is_leaf="lines" not in values,
        avoided_plies=parent.avoided_plies | {len(parent.moves) + place for place in avoided},
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
        raise BookError(f"{_location(node, path)}: {key} takes one value")
    return str(node.value).strip()


def _weight(texts: dict[str, str], location: str) -> int:
    text = texts["weight"]
    if not text.isdecimal() or not 1 <= int(text) <= MAX_WEIGHT:
        raise BookError(f"{location}: the weight is a number from 1 to {MAX_WEIGHT}, not {text!r}")
    return int(text)


def _name(parent: Line, texts: dict[str, str], location: str) -> OpeningName:
    eco = texts.get("eco", parent.name.eco)
    if eco and not _ECO.fullmatch(eco):
        raise BookError(f"{location}: an ECO code is a letter A to E and two digits, not {eco!r}")
    title = texts.get("name", parent.name.title)
    if not title.isprintable():
        raise BookError(f"{location}: a name stands on one line, without tabs and the like")
    return OpeningName(eco, title)


def _parse_moves(
    board: chess.Board, text: str, location: str
) -> tuple[tuple[chess.Move, ...], list[int]]:
    """Play moves in SAN; return them, and the places of those marked as not to be played."""
    moves: list[chess.Move] = []
    avoided = []
    for word in text.split():
        san = word
        if number := _MOVE_NUMBER.match(word):
            san = word[number.end() :]
            if not _is_due_number(board, int(number[1]), number[2]):
                raise BookError(
                    f"{location}: {word} stands where move {_format_number(board)} is due"
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
                f"{location}: {_format_number(board)} {san} is not a legal move in {board.fen()}"
            ) from None
        if mark[0] in ("?", "??", "?!"):
            avoided.append(len(moves))
        moves.append(move)
        board.push(move)
    if not moves:
        raise BookError(f"{location}: a line needs moves")
    return tuple(moves), avoided


def _is_due_number(board: chess.Board, number: int, dots: str) -> bool:
    """Tell whether a move number is that of the board; `1.` may also precede Black's move."""
    return number == board.fullmove_number and (len(dots) == 1 or not board.turn)


def _format_number(board: chess.Board) -> str:
    return f"{board.fullmove_number}{'.' if board.turn else '...'}"


def build(lines: Iterable[Line]) -> Repertoire:
    """Bring lines together by position; raises BookError if two give a position two names."""
    repertoire = Repertoire()
    named_at: dict[int, str] = {}
    avoided: set[tuple[int, int]] = set()
    for line in lines:
        board = chess.Board()
        for place, move in enumerate(line.moves):
            if place >= line.own_from_ply:
                key, raw_move = zobrist_hash(board), encode_move(board, move)
                weights = repertoire.weights.setdefault(key, {})
                weights[raw_move] = max(weights.get(raw_move, 0), line.weight)
                if place in line.avoided_plies:
                    avoided.add((key, raw_move))
            board.push(move)
        if line.has_own_name:
            key = zobrist_hash(board)
            if repertoire.names.setdefault(key, line.name) != line.name:
                raise BookError(
                    f"{line.location}: {line.name} is called {repertoire.names[key]} "
                    f"at {named_at[key]}"
                )
            named_at.setdefault(key, line.location)
    for key, raw_move in avoided:
        repertoire.weights[key][raw_move] = 0
    return repertoire
