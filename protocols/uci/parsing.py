"""Parse UCI lines, without checking whether moves are legal."""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from sys import intern

# Upper limit of all numbers in `go`: plies, nodes, milliseconds and moves.
MAX_NUMBER = 10**15
# Higher than the number of legal moves in any position, in all spellings.
MAX_SEARCH_MOVES = 1000
MAX_LISTED = 3  # problems of a command


class UciError(Exception):
    """Raised when a command fails. The message is sent as an `info string`."""


@dataclass(frozen=True, slots=True)
class SetOptionCommand:
    """The command `setoption name NAME [value VALUE]`."""

    name: str
    value: str | None


@dataclass(frozen=True, slots=True)
class PositionCommand:
    """The command `position`. The `fen` is None for the start position."""

    fen: str | None
    moves: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GoCommand:
    """The command `go`, with times in milliseconds and no negative numbers."""

    numbers: dict[str, int] = field(default_factory=dict)
    infinite: bool = False
    ponder: bool = False
    search_moves: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()  # messages about invalid parts


GO_NUMBER_KEYWORDS = (
    "wtime btime winc binc movestogo depth nodes mate movetime perft".split()  # noqa: SIM905
)
_GO_KEYWORDS = {"searchmoves", "ponder", "infinite", *GO_NUMBER_KEYWORDS}


def split_command(line: str, commands: Container[str]) -> tuple[str, str]:
    """Return the first known command in a line and its arguments, or two empty strings."""
    # UCI requires engines to skip unknown words before a command.
    for word in re.finditer(r"\S+", line):
        if word[0].lower() in commands:
            return word[0].lower(), line[word.end() :].strip()
    return "", ""


def parse_nothing(text: str) -> None:
    """Ignore the arguments of a command that takes none."""


def parse_switch(text: str) -> bool:
    """Parse `on` or `off`, or raise `UciError`."""
    word = text.strip().lower()
    if word not in ("on", "off"):
        raise UciError(f"invalid switch: {shorten(text)} (expected on or off)")
    return word == "on"


def parse_depth(text: str) -> int | None:
    """Parse a positive depth. Return None if the text is empty."""
    if not text.strip():
        return None
    number = read_number(text)
    if number is None or number < 1:
        raise UciError(f"invalid depth: {shorten(text)} (expected a number from 1)")
    return number


def parse_set_option(text: str) -> SetOptionCommand:
    """Parse `name NAME [value VALUE]`. Names and values may contain spaces."""
    first, _, rest = text.strip().partition(" ")
    if first.lower() != "name" or not rest.strip():
        raise UciError(
            f"invalid command: {shorten(f'setoption {text}')} "
            "(expected: setoption name NAME [value VALUE])"
        )
    words = rest.split(" ")
    for index, word in enumerate(words):
        if word.lower() == "value" and index:
            value = " ".join(words[index + 1 :]).strip()
            return SetOptionCommand(" ".join(words[:index]).strip(), value)
    return SetOptionCommand(rest.strip(), None)


def parse_position(text: str) -> PositionCommand:
    """Parse `startpos|fen FEN [moves MOVE ...]`."""
    words = text.split()
    start = words[0].lower() if words else ""
    lowered = [word.lower() for word in words]
    end = lowered.index("moves") if "moves" in lowered else len(words)
    # Sessions keep the moves. Interned, each different move takes memory only once.
    moves = tuple(map(intern, lowered[end + 1 :]))
    if start == "startpos" and end == 1:
        return PositionCommand(None, moves)
    if start == "fen" and end > 1:
        return PositionCommand(" ".join(words[1:end]), moves)
    raise UciError(
        f"invalid command: {shorten(f'position {text}')} "
        "(expected: position startpos|fen FEN [moves MOVE ...])"
    )


def parse_go(text: str) -> GoCommand:
    """Parse search limits. An invalid number becomes the minimum, to keep the search short."""
    words = text.lower().split()
    numbers: dict[str, int] = {}
    switches: set[str] = set()
    search_moves: dict[str, None] = {}
    problems: list[str] = []
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word in GO_NUMBER_KEYWORDS:
            argument = words[index] if index < len(words) else ""
            number = read_number(argument)
            if number is None:
                problems.append(f"go {word}: invalid number {shorten(argument)}; using the minimum")
            if index < len(words) and words[index] not in _GO_KEYWORDS:
                index += 1
            numbers[word] = min(max(number or 0, 0), MAX_NUMBER)
        elif word == "searchmoves":
            while index < len(words) and words[index] not in _GO_KEYWORDS:
                if len(search_moves) < MAX_SEARCH_MOVES:
                    search_moves[words[index]] = None
                index += 1
        elif word in ("infinite", "ponder"):
            switches.add(word)
        else:
            problems.append(f"go: unknown keyword {shorten(word)}")
    return GoCommand(
        numbers,
        "infinite" in switches,
        "ponder" in switches,
        tuple(search_moves),
        shorten_list(problems),
    )


def read_number(word: str) -> int | None:
    """Return a number truncated to an integer, or None if the text is invalid."""
    try:
        number = float(word)
    except ValueError:
        return None
    return None if number != number else int(min(max(number, -MAX_NUMBER), MAX_NUMBER))


def shorten(text: str, length: int = 60) -> str:
    """Return a text in quotes, on one line, with at most `length` characters."""
    text = " ".join(text.split())
    return repr(text if len(text) <= length else text[: length - 3] + "...")


def shorten_list(problems: Iterable[str]) -> tuple[str, ...]:
    """Return the first MAX_LISTED messages, and a message with the number of the others."""
    messages = tuple(problems)
    if len(messages) <= MAX_LISTED:
        return messages
    return (*messages[:MAX_LISTED], f"and {len(messages) - MAX_LISTED} more")
