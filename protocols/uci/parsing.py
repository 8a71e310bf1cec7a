"""Lines of UCI parsed into values. What a value says is checked against a position later."""

from collections.abc import Iterable
from dataclasses import dataclass, field

# Where a `go` gives more than anyone can use, the most that is passed on: plies, nodes,
# milliseconds and moves alike.
MAX_NUMBER = 10**15
# More moves than any position has, however each is written.
MAX_SEARCH_MOVES = 1000


class UciError(Exception):
    """A command cannot be carried out; the message says why, for an `info string`."""


@dataclass(frozen=True, slots=True)
class SetOptionCommand:
    """`setoption name N [value V]`; value is None where there is no `value`."""

    name: str
    value: str | None


@dataclass(frozen=True, slots=True)
class PositionCommand:
    """`position startpos|fen F [moves ...]`; fen is None for the start position."""

    fen: str | None
    moves: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GoCommand:
    """`go ...`: numbers by keyword, in UCI's units (milliseconds), never negative.

    problems: what could not be read, and what is done instead.
    """

    numbers: dict[str, int] = field(default_factory=dict)
    infinite: bool = False
    ponder: bool = False
    search_moves: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


GO_NUMBER_KEYWORDS = (
    "wtime btime winc binc movestogo depth nodes mate movetime perft".split()  # noqa: SIM905
)
_GO_KEYWORDS = {"searchmoves", "ponder", "infinite", *GO_NUMBER_KEYWORDS}


def parse_nothing(text: str) -> None:
    """Parse the arguments of a command that has none; what is there is ignored."""


def parse_switch(text: str) -> bool:
    """Parse `on` or `off`."""
    word = text.strip().lower()
    if word not in ("on", "off"):
        raise UciError(f"expected on or off, not {shorten(text)}")
    return word == "on"


def parse_depth(text: str) -> int | None:
    """Parse a positive number, or nothing."""
    if not text.strip():
        return None
    number = read_number(text)
    if number is None or number < 1:
        raise UciError(f"expected a depth, not {shorten(text)}")
    return number


def parse_set_option(text: str) -> SetOptionCommand:
    """Parse a name and a value, both of which may hold spaces."""
    first, _, rest = text.strip().partition(" ")
    if first.lower() != "name" or not rest.strip():
        raise UciError("expected: setoption name NAME [value VALUE]")
    words = rest.split(" ")
    for index, word in enumerate(words):
        if word.lower() == "value" and index:
            value = " ".join(words[index + 1 :]).strip()
            return SetOptionCommand(" ".join(words[:index]).strip(), value)
    return SetOptionCommand(rest.strip(), None)


def parse_position(text: str) -> PositionCommand:
    """Parse a position and the moves played from it."""
    words = text.split()
    kind = words[0].lower() if words else ""
    lowered = [word.lower() for word in words]
    end = lowered.index("moves") if "moves" in lowered else len(words)
    moves = tuple(lowered[end + 1 :])
    if kind == "startpos" and end == 1:
        return PositionCommand(None, moves)
    if kind == "fen" and end > 1:
        return PositionCommand(" ".join(words[1:end]), moves)
    raise UciError("expected: position startpos|fen FEN [moves MOVE ...]")


def parse_go(text: str) -> GoCommand:
    """Parse limits. One that cannot be read counts as the least, so that the answer comes soon."""
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
            number = read_number(words[index]) if index < len(words) else None
            if number is None:
                problems.append(f"go {word} needs a number; taken as the least")
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
            problems.append(f"go does not know {shorten(word)}")
    return GoCommand(
        numbers,
        "infinite" in switches,
        "ponder" in switches,
        tuple(search_moves),
        shorten_list(problems),
    )


def read_number(word: str) -> int | None:
    """Read a number as front ends write it, also with a fraction; None if it is none."""
    try:
        number = float(word)
    except ValueError:
        return None
    return None if number != number else int(min(max(number, -MAX_NUMBER), MAX_NUMBER))


def shorten(text: str, length: int = 60) -> str:
    """Quote what a user wrote, on one line, cut to a length that fits a message."""
    text = " ".join(text.split())
    return repr(text if len(text) <= length else text[: length - 3] + "...")


def shorten_list(problems: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """Cut a list of complaints to the first few."""
    found = tuple(problems)
    return found if len(found) <= most else (*found[:most], f"and {len(found) - most} more")
