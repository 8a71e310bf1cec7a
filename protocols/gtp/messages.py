"""Lines of GTP parsed into values, and answers written as lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite

# The largest number that a command may hold: seconds, stones, moves.
MAX_NUMBER = 10**9
# What KataGo calls a limit that is none.
NO_LIMIT = 1 << 50
MAX_MESSAGE_LENGTH = 300
SYNTAX_ERROR = "syntax error"

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_LINE = re.compile(r"(?:(\d+)(?:\s+|$))?(\S*)\s*(.*)", re.DOTALL)
_PLAYERS = {"b": 0, "black": 0, "w": 1, "white": 1}
COLOURS = ("black", "white")


class GtpError(Exception):
    """A command cannot be carried out; the message is what GTP says of it."""


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """One command as it came: its id or "", its name, and its arguments."""

    id: str
    name: str
    arguments: tuple[str, ...]


def parse_line(line: str) -> ParsedCommand | None:
    """Parse a line; None if it holds no command: it is empty, or a comment."""
    line = _CONTROL.sub("", line.partition("#")[0]).replace("\t", " ").strip()
    if not line:
        return None
    match = _LINE.fullmatch(line)
    assert match is not None
    return ParsedCommand(match[1] or "", match[2], tuple(match[3].split()))


def success_response(call: ParsedCommand, text: str = "") -> str:
    """Return a successful answer but for its last line end; it holds no empty line.

    A text that begins with a line end is shown below the first line.
    """
    lines = "\n".join(line for line in text.splitlines() if line.strip())
    gap = "\n" if text.startswith("\n") else " "
    return f"={call.id}{gap}{lines}".rstrip() + "\n"


def failure_response(call: ParsedCommand, message: str) -> str:
    """Return the answer that reports an error."""
    return f"?{call.id} {' '.join(message.split())[:MAX_MESSAGE_LENGTH]}\n"


class Arguments:
    """The arguments of a command, taken one by one; GtpError where they are not as they should."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self._remaining = list(words)

    def __bool__(self) -> bool:
        return bool(self._remaining)

    def word(self) -> str:
        """Take any word."""
        if not self._remaining:
            raise GtpError(SYNTAX_ERROR)
        return self._remaining.pop(0)

    def peek(self) -> str:
        """Return the next word, which is left; there must be one."""
        return self._remaining[0]

    def rest(self) -> list[str]:
        """Take all that is left."""
        left, self._remaining = self._remaining, []
        return left

    def player(self) -> int:
        """Take a colour: 0 is Black, 1 is White."""
        player = self.optional_player()
        if player is None:
            raise GtpError(SYNTAX_ERROR)
        return player

    def optional_player(self) -> int | None:
        """Take a colour if there is one."""
        if self._remaining and self._remaining[0].lower() in _PLAYERS:
            return _PLAYERS[self._remaining.pop(0).lower()]
        return None

    def moves(self) -> list[tuple[int, str]]:
        """Take all that is left as moves: a colour and a text each."""
        found = []
        while self._remaining:
            found.append((self.player(), self.word()))
        return found

    def integer(self) -> int:
        """Take a whole number from 0."""
        word = self.word()
        if not re.fullmatch(r"\+?[0-9]{1,20}", word):
            raise GtpError(SYNTAX_ERROR)
        return min(int(word), MAX_NUMBER)

    def real(self) -> float:
        """Take a number, which may have a fraction."""
        try:
            number = float(self.word())
        except ValueError:
            raise GtpError(SYNTAX_ERROR) from None
        if not isfinite(number):
            raise GtpError(SYNTAX_ERROR)
        return max(-MAX_NUMBER, min(MAX_NUMBER, number))

    def seconds(self) -> float:
        """Take a time, not below 0."""
        seconds = self.real()
        if seconds < 0:
            raise GtpError(SYNTAX_ERROR)
        return seconds

    def expect_end(self) -> None:
        """Make sure that nothing is left."""
        if self._remaining:
            raise GtpError(SYNTAX_ERROR)


def game_id(name: str) -> str:
    """Return the name of a game as GoGui has such names: letters alone, the first a capital."""
    return "".join(filter(str.isalpha, name)).capitalize() or name
