"""Read PGN files game by game, including files that violate the standard.

`read_games` finds the games in a file. The package chess parses their moves. A damaged game does
not affect the games around it: commands skip it, and tell the user with a `ReadReport`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import chess
import chess.pgn

from agent.games.fen import position_faults
from agent.games.variants import STANDARD
from agent.io.message import library_message
from agent.io.read_report import UnusableGameError
from agent.io.sanitize import sanitize_line

RESULTS = ("1-0", "0-1", "1/2-1/2")
# Maximum length of a game in characters, and of the moves in messages.
MAX_GAME_LENGTH = 4 << 20
MAX_MOVE_LENGTH = 20
TOO_LONG, TOO_LONG_KIND = "game too long (at most {} moves)", "that are too long"

# The start of a tag, comment or variation, the end of a variation, and results.
_MARK = re.compile(r"\[|\{|;|\(|\)|\*|1-0|0-1|1/2-1/2")
_TAG_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+#=:-]*")
_TAG = re.compile(rf'\[\s*({_TAG_NAME.pattern})\s+"((?:[^"\\]|\\.)*)"\s*\]')
_MOVE = re.compile(r"[a-h][1-8]|[O0]-[O0]|--|Z0")
_FIRST_MOVE = re.compile(r"\s*1\s*\.(?!\s*\.)")
_PARENTHESIS = re.compile(r"[()]")
_COMMENT = re.compile(r"\{[^}]*\}")
# A token that contains a square but is not SAN with English letters, such as the German Sf3, or
# castling with other letters or dashes. python-chess would skip such tokens, or read a part of them
# as a move.
_UNKNOWN_MOVE = re.compile(
    r"""(?<![^\s()]) (?> (?: \d*\.+ | \d+(?=[A-Za-z]) )* )
    (?:
        (?! P?[NBKRQ]?[a-h]?[1-8]?[-x@]?[a-h][1-8] (?:=?[nbrqkNBRQK])? (?![^\s()]*[a-h][1-8]) )
        (?= [^\s()]*[a-h][1-8] )
        | (?! [O0]-[O0] ) (?= [oO0\u041e\u043e][-\u2010-\u2015][oO0\u041e\u043e] )
    )
    ([^\s()]+)""",
    re.VERBOSE,
)
# Other ways to write a draw in the tag Result.
_DRAWS = ("1/2", "½-½", "½", "0.5-0.5")


class PgnError(UnusableGameError):
    """Raised for a game in PGN that cannot be used."""


@dataclass(frozen=True, slots=True)
class PgnGame:
    """The tags and the movetext of a game. `number` is its position in the file, from 1.

    `offset` is the number of characters in the file before the game. The movetext has no blank
    lines, and all comments are in braces. `end` is the result after the moves. `error` is a reason
    why the moves cannot be read, or None.
    """

    number: int
    tags: dict[str, str]
    movetext: str
    offset: int = 0
    end: str = "*"
    error: PgnError | None = None

    @property
    def result(self) -> str:
        """The result of a finished game, or `*`."""
        result = self.tags.get("Result", "*").strip()
        if result in _DRAWS:
            return "1/2-1/2"
        return result if result in RESULTS else self.end

    @property
    def is_standard(self) -> bool:
        """Whether the game is chess from the usual start position."""
        headers = self._headers()
        if "FEN" not in headers and "Variant" not in headers:
            return True
        try:
            board = headers.board()
        except ValueError:
            return False
        return type(board) is chess.Board and not board.chess960 and board == chess.Board()

    def check_is_chess(self) -> None:
        """Raise PgnError if the game is of a variant other than chess and Chess960."""
        if "Variant" in self.tags:
            _check_variant(self._headers(), (STANDARD,))

    def parse(self, max_plies: int, variants: Collection[str] = (STANDARD,)) -> chess.pgn.Game:
        """Parse the moves. Illegal moves end variations. `variants` are the accepted variants.

        Raise PgnError if the start position or a move of the main line is illegal, or if the main
        line has more than `max_plies` plies.
        """
        if self.error is not None:
            raise self.error
        _check_words(_COMMENT.sub(" ", self.movetext))
        try:
            headers = self._headers()
            _check_variant(headers, variants)
            _check_start(headers)
            headers["Result"] = self.result
            tags = "".join(f'[{name} "{value}"]\n' for name, value in headers.items())
            stream = io.StringIO(f"{tags}\n {self.movetext}")  # a line that begins with [ is a tag
            game = chess.pgn.read_game(stream, Visitor=lambda: _GameBuilder(max_plies))
        except PgnError:
            raise
        except (ValueError, LookupError, AttributeError, AssertionError) as error:
            # python-chess raises various exceptions for malformed games.
            raise PgnError("invalid PGN ({})", error, kind="damaged") from None
        assert game is not None
        return game

    def main_line(self, plies: int) -> list[str]:
        """Return the first `plies` moves in SAN, which may be illegal.

        Raise PgnError if the movetext is damaged.
        """
        if self.error is not None:
            raise self.error
        text = _without_variations(_COMMENT.sub(" ", self.movetext))
        found = (token for token in chess.pgn.MOVETEXT_REGEX.finditer(text) if token[1])
        moves = list(islice(found, plies))
        _check_words(text[: moves[-1].end()] if len(moves) == plies else text)
        return [move[1] for move in moves]

    def _headers(self) -> chess.pgn.Headers:
        """Return the tags, without tags that contain nothing."""
        tags = dict(self.tags)
        for name in ("FEN", "Variant"):
            if not tags.get(name, "").strip(" ?-"):
                tags.pop(name, None)
        return chess.pgn.Headers(tags)


def text_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text with any line endings."""
    return io.StringIO(text, newline=None)


def read_games(lines: Iterable[str]) -> Iterator[PgnGame]:
    """Find the games in the lines of a PGN file. Text between games is ignored.

    A game begins with a tag after moves or a result, or with move number 1. Blank lines are
    optional.
    """
    return _Splitter(lines).games()


class _Splitter:
    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._again: list[str] = []  # lines to be read again, last line first
        self._done: list[PgnGame] = []
        self._line_end = 0  # position in the file after the current line
        self._position = 0  # position of the current text
        self._number = 0
        self._comment: list[str] | None = None  # the lines of an open comment
        self._tag_in_comment: int | None = None  # the first of them that looks like a tag
        self._begin()

    def _begin(self) -> None:
        self._tags: dict[str, str] = {}
        self._text: list[str] = []
        self._start = -1  # of the game in the file; -1: no tag or text yet
        self._size = 0
        self._depth = 0  # of variations
        self._has_moves = False
        self._end = ""
        self._error: PgnError | None = None
        self._after_blank = False

    def games(self) -> Iterator[PgnGame]:
        while line := self._next_line():
            self._read_line(line)
            yield from self._done
            self._done.clear()
        self._finish()
        yield from self._done

    def _next_line(self) -> str:
        line = self._again.pop() if self._again else next(self._lines, "")
        if not line and self._comment is not None:
            self._abandon_comment()
            return self._next_line()
        self._line_end += len(line)
        return line

    def _read_again(self, lines: list[str]) -> None:
        self._again += reversed(lines)
        self._line_end -= sum(map(len, lines))

    def _finish(self) -> None:
        """End a game. Text without tags and moves is not a game."""
        if self._tags or self._has_moves:
            self._number += 1
            if self._depth and not self._error:
                self._error = PgnError(
                    "a variation is not closed", kind="with a variation that is not closed"
                )
            self._done.append(
                PgnGame(
                    self._number,
                    self._tags,
                    "".join(self._text),
                    self._start,
                    self._end or "*",
                    self._error,
                )
            )
        self._begin()

    def _add(self, text: str) -> None:
        self._mark_start()
        if self._fits(text):
            self._text.append(text)

    def _mark_start(self) -> None:
        if self._start < 0:
            self._start = self._position

    def _fits(self, text: str) -> bool:
        self._size += len(text)
        if self._size > MAX_GAME_LENGTH and not self._error:
            self._error = PgnError("longer than {} MiB", MAX_GAME_LENGTH >> 20, kind=TOO_LONG_KIND)
        return self._size <= MAX_GAME_LENGTH

    def _read_line(self, line: str) -> None:
        at_line_start = self._comment is None
        if self._comment is not None:
            line = self._continue_comment(self._comment, line)
        elif (line := line.lstrip("\ufeff")).startswith("%"):
            return
        if not line.strip():
            self._after_blank |= at_line_start
            return
        start = at = 0
        line_start = self._line_end - len(line)
        indent = len(line) - len(line.lstrip())
        while mark := _MARK.search(line, at):
            token, begin, at = mark[0], mark.start(), mark.end()
            self._position = line_start + start
            if token == "[":
                if (found := self._find_tag(line, begin, is_first=begin == indent)) is None:
                    continue
                name, value, at = found
                self._add_plain(line[start:begin], at_line_start)
                self._position = line_start + begin
                self._add_tag(name, value)
            elif token in ("{", ";"):
                self._add_plain(line[start:begin], at_line_start)
                self._position = line_start + begin
                if token == ";":
                    between_games = self._end or not (self._tags or self._has_moves)
                    if not (at_line_start and between_games):
                        self._add(f"{{{line[at:].strip().replace('}', ')')}}}\n")
                    return
                if (end := line.find("}", at)) < 0:
                    self._mark_start()
                    self._comment = []
                    self._continue_comment(self._comment, line[begin:])
                    return
                at = end + 1
                self._add(line[begin:at] + "\n")  # python-chess copies the rest of the line
            elif token in ("(", ")"):
                self._add_plain(line[start:begin], at_line_start)
                self._position = line_start + begin
                self._add_parenthesis(token)
            elif _is_word(line, begin, at):
                self._add_plain(line[start:begin], at_line_start)
                if not self._depth and not self._end:
                    self._end = token
                    self._add(f"{token} ")
            else:
                continue
            start, at_line_start = at, False
        self._position = line_start + start
        self._add_plain(line[start:], at_line_start)

    def _continue_comment(self, comment: list[str], line: str) -> str:
        """Add a line to the open comment. Return the text after the comment."""
        end = line.find("}")
        opens = self._tag_in_comment is not None and "{" in (line[:end] if end >= 0 else line)
        # If a comment begins after a tag, the tag begins a game: the open comment was not closed.
        if opens or not self._fits(line):
            if comment:
                self._read_again([line])
            self._abandon_comment()
            return ""
        if end >= 0:
            self._text += [*comment, line[: end + 1]]
            self._comment = self._tag_in_comment = None
            return line[end + 1 :]
        if self._tag_in_comment is None and _TAG.fullmatch(line.strip()):
            self._tag_in_comment = len(comment)
        comment.append(line)
        return ""

    def _abandon_comment(self) -> None:
        """Treat the open comment as not closed. Read again from the first line with a tag."""
        comment = self._comment or []
        end = self._tag_in_comment if self._tag_in_comment is not None else len(comment)
        self._read_again(comment[end:])
        self._error = self._error or PgnError(
            "a comment is not closed", kind="with a comment that is not closed"
        )
        self._comment = self._tag_in_comment = None
        self._has_moves |= bool(self._tags)  # the next tag begins a game
        self._text += [*comment[:end], "}\n"]

    def _find_tag(self, line: str, begin: int, *, is_first: bool) -> tuple[str, str, int] | None:
        """Return the name and value of the tag at `begin`, and its end.

        The first tag of a line may have quotes in its value, or lack some of its delimiters.
        """
        if tag := _TAG.match(line, begin):
            return tag[1], tag[2], tag.end()
        if not is_first:
            return None
        name, *rest = line[begin + 1 :].strip().removesuffix("]").split(None, 1) or [""]
        value = rest[0].strip() if rest else ""
        is_quoted = value.startswith('"')
        in_tags = bool(self._tags) and not self._has_moves and not self._end
        if not _TAG_NAME.fullmatch(name) or not (is_quoted or in_tags):
            return None
        return name, value.removeprefix('"').removesuffix('"'), len(line)

    def _add_tag(self, name: str, value: str) -> None:
        repeats = name in self._tags and (self._after_blank or name == next(iter(self._tags)))
        if self._has_moves or self._end or repeats:
            self._finish()
        self._after_blank = False
        self._mark_start()
        if self._fits(name + value):
            self._tags[name] = value

    def _add_plain(self, text: str, at_line_start: bool) -> None:
        """Add text that is neither a tag nor a comment."""
        if not text.strip():
            if self._text and not self._text[-1].endswith("\n"):  # no blank lines
                self._add(text)
            return
        after_blank, self._after_blank = self._after_blank, False
        is_move = bool(_MOVE.search(text))
        if (self._has_moves or self._end) and not self._depth:
            is_first = _FIRST_MOVE.match(text) and (at_line_start or self._end)
            if is_first or (self._end and after_blank and is_move):
                self._finish()
        if self._end or not (is_move or self._tags or self._has_moves):
            return
        self._has_moves |= is_move
        self._add(text)

    def _add_parenthesis(self, token: str) -> None:
        """Begin or end a variation. Other parentheses are ignored."""
        if self._end or not self._has_moves or (token == ")" and not self._depth):
            return
        self._depth += 1 if token == "(" else -1
        self._add(token)


def _is_word(line: str, begin: int, end: int) -> bool:
    around = line[begin - 1 : begin] + line[end : end + 1]
    return not any(character.isalnum() or character in "/-" for character in around)


def _without_variations(text: str) -> str:
    parts, depth, start = [], 0, 0
    for mark in _PARENTHESIS.finditer(text):
        if depth == 0:
            parts.append(text[start : mark.start()])
        depth = max(0, depth + (1 if mark[0] == "(" else -1))
        start = mark.end()
    return " ".join([*parts, text[start:]])


def _check_words(text: str) -> None:
    """Raise PgnError if a text without comments contains unknown moves."""
    if unknown := _UNKNOWN_MOVE.search(text):
        move = sanitize_line(unknown[1], MAX_MOVE_LENGTH)
        raise PgnError("unknown move {}", move, kind="with an unknown move")


def _check_variant(headers: chess.pgn.Headers, variants: Collection[str]) -> None:
    try:
        variant = headers.variant().uci_variant
    except ValueError:
        variant = None
    if variant not in variants:
        name = sanitize_line(headers.get("Variant", STANDARD), MAX_MOVE_LENGTH)
        raise PgnError("unsupported variant {}", name, kind="of other variants")


def _check_start(headers: chess.pgn.Headers) -> None:
    kind = "with an illegal start position"
    try:
        board = headers.board()
    except ValueError as error:
        message = library_message(error)
        raise PgnError(message.template, *message.arguments, kind=kind) from None
    if not board.is_valid():
        raise PgnError("illegal start position ({})", position_faults(board), kind=kind)


class _GameBuilder(chess.pgn.GameBuilder[chess.pgn.Game]):
    """Raises PgnError at the first illegal move of the main line."""

    def __init__(self, max_plies: int) -> None:
        super().__init__()
        self._max_plies = max_plies
        self._plies = 0
        self._move = chess.Move.null()
        # Length of the stack of variations at an illegal move. The rest of its variation is
        # skipped here, as python-chess would not return to the board before it.
        self._skipping = 0

    def begin_parse_san(self, board: chess.Board, san: str) -> chess.pgn.SkipType | None:
        if self._skipping:
            return chess.pgn.SKIP
        if len(self.variation_stack) > 1:
            try:
                self._move = board.parse_san(san)
            except ValueError:
                self._skipping = len(self.variation_stack)
                return chess.pgn.SKIP
            return None
        if self._plies == self._max_plies:
            raise PgnError(TOO_LONG, self._max_plies, kind=TOO_LONG_KIND)
        self._plies += 1
        self._move = parse_san(board, san)
        return None

    def parse_san(self, board: chess.Board, san: str) -> chess.Move:
        return self._move

    def begin_variation(self) -> chess.pgn.SkipType | None:  # type: ignore[override]
        super().begin_variation()
        return chess.pgn.SKIP if self._skipping else None

    def end_variation(self) -> None:
        if len(self.variation_stack) == self._skipping:
            self._skipping = 0
        super().end_variation()

    def visit_comment(self, comment: str) -> None:
        if not self._skipping:
            super().visit_comment(comment)

    def visit_nag(self, nag: int) -> None:
        if not self._skipping:
            super().visit_nag(nag)

    def handle_error(self, error: Exception) -> None:
        raise error


def parse_san(board: chess.Board, san: str) -> chess.Move:
    """Parse a move of the main line. Raise PgnError if it is illegal."""
    number = board.fullmove_number
    shown = f"{number}{'.' if board.turn else '...'} {san}"
    try:
        move = board.parse_san(san)
    except chess.AmbiguousMoveError:
        raise PgnError(
            "move {} is ambiguous ({})", number, shown, kind="with an ambiguous move"
        ) from None
    except ValueError:
        raise PgnError(
            "move {} is illegal ({})", number, shown, kind="with an illegal move"
        ) from None
    if not move:
        raise PgnError("move {} is a null move", number, kind="with a null move")
    return move
