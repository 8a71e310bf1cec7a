"""Parse GTP lines and format GTP responses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite

from agent.io.sanitize import escape_lines

# Upper limit of all numbers in commands: seconds, stones, moves.
MAX_NUMBER = 10**9
# KataGo's value for "no limit".
NO_LIMIT = 1 << 50
MAX_MESSAGE_LENGTH = 300
SYNTAX_ERROR = "syntax error"

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_LINE = re.compile(r"(?:(\d+)(?:\s+|$))?(\S*)\s*(.*)", re.DOTALL)
_PLAYERS = {"b": 0, "black": 0, "w": 1, "white": 1}
COLOURS = ("black", "white")


class GtpError(Exception):
    """Raised when a command fails. The message is the text of the response."""


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    id: str  # may be empty
    name: str
    text: str  # the arguments, not split: a queue of words takes much more memory

    @property
    def arguments(self) -> list[str]:
        return self.text.split()


def parse_line(line: str) -> ParsedCommand | None:
    """Parse a line. Return None for an empty line or a comment."""
    line = _CONTROL.sub("", line.partition("#")[0]).replace("\t", " ").strip()
    if not line:
        return None
    match = _LINE.fullmatch(line)
    assert match is not None
    return ParsedCommand(match[1] or "", match[2], match[3])


def success_response(call: ParsedCommand, text: str = "") -> str:
    """Return a success response without the final newline and without empty lines."""
    lines = "\n".join(escape_lines(line) for line in text.splitlines() if line.strip())
    # A text that begins with a newline starts on the line after the `=`.
    gap = "\n" if text.startswith("\n") else " "
    return f"={call.id}{gap}{lines}".rstrip() + "\n"


def failure_response(call: ParsedCommand, message: str) -> str:
    """Return a failure response without the final newline."""
    return f"?{call.id} {escape_lines(' '.join(message.split()))[:MAX_MESSAGE_LENGTH]}\n"


class Arguments:
    """Reads a command's arguments in order, and raises `GtpError` if one is missing or invalid."""

    def __init__(self, words: Iterable[str]) -> None:
        self._remaining = list(words)

    def __bool__(self) -> bool:
        return bool(self._remaining)

    def word(self) -> str:
        if not self._remaining:
            raise GtpError(SYNTAX_ERROR)
        return self._remaining.pop(0)

    def peek(self) -> str:
        """Return the next word without consuming it, or raise `IndexError` if no word is left."""
        return self._remaining[0]

    def rest(self) -> list[str]:
        words, self._remaining = self._remaining, []
        return words

    def player(self) -> int:
        """Read a colour. Return 0 for Black or 1 for White."""
        player = self.optional_player()
        if player is None:
            raise GtpError(SYNTAX_ERROR)
        return player

    def optional_player(self) -> int | None:
        """Read a colour, or return None and read nothing if the next word is not a colour."""
        if self._remaining and self._remaining[0].lower() in _PLAYERS:
            return _PLAYERS[self._remaining.pop(0).lower()]
        return None

    def moves(self) -> list[tuple[int, str]]:
        """Read all remaining words as pairs of a colour and a move."""
        moves = []
        while self._remaining:
            moves.append((self.player(), self.word()))
        return moves

    def integer(self) -> int:
        """Read a non-negative integer. A value above MAX_NUMBER becomes MAX_NUMBER."""
        word = self.word()
        if not re.fullmatch(r"\+?[0-9]{1,20}", word):
            raise GtpError(SYNTAX_ERROR)
        return min(int(word), MAX_NUMBER)

    def skip_seed(self) -> None:
        """Read the optional random seed of GNU Go's commands, which has no effect."""
        if self._remaining:
            self.integer()

    def real(self) -> float:
        """Read a finite number, and clamp it to the range from -MAX_NUMBER to MAX_NUMBER."""
        try:
            number = float(self.word())
        except ValueError:
            raise GtpError(SYNTAX_ERROR) from None
        if not isfinite(number):
            raise GtpError(SYNTAX_ERROR)
        return max(-MAX_NUMBER, min(MAX_NUMBER, number))

    def seconds(self) -> float:
        """Read a non-negative number of seconds."""
        seconds = self.real()
        if seconds < 0:
            raise GtpError(SYNTAX_ERROR)
        return seconds

    def expect_end(self) -> None:
        if self._remaining:
            raise GtpError(SYNTAX_ERROR)


def game_id(name: str) -> str:
    """Return a game's name in GoGui's format, for example `Tictactoe` for `tic-tac-toe`."""
    return "".join(filter(str.isalpha, name)).capitalize() or name
