"""Number types for argparse, which raise ArgumentTypeError, and an action for NAME=VALUE."""

from argparse import Action, ArgumentError, ArgumentParser, ArgumentTypeError, Namespace
from math import inf
from typing import Any

from agent.io.message import Message

MIN_BOARD_SIZE = 2
MAX_INT = 10**15  # compiled searches count in 64 bits


def integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(Message("invalid int value: {!r}", text)) from None


def positive_int(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ArgumentTypeError(Message("expected a whole number above 0, not {!r}", text))
    if number > MAX_INT:
        raise ArgumentTypeError(
            Message("expected a whole number up to {}, not {!r}", MAX_INT, text)
        )
    return number


def non_negative_int(text: str) -> int:
    return 0 if text == "0" else positive_int(text)


def board_size(text: str) -> int | str:
    """Parse a board size of compiled Go: "9" (returned as an int) or "9x13" (as a str)."""
    from agent.games.go import format_size, parse_size
    from agent.go.parts import MAX_BOARD_SIZE

    try:
        size = int(text) if text.isascii() and text.isdecimal() else text
        edges = parse_size(size, MAX_BOARD_SIZE)
    except ValueError:
        edges = (0, 0)
    if min(edges) < MIN_BOARD_SIZE:
        raise ArgumentTypeError(
            Message(
                "expected a size from {} to {}, or WIDTHxHEIGHT such as 9x13, not {!r}",
                MIN_BOARD_SIZE,
                MAX_BOARD_SIZE,
                text,
            )
        )
    return format_size(*edges)


def positive_seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < inf:
        raise ArgumentTypeError(Message("expected seconds above 0, not {!r}", text))
    return number


def number_up_to(maximum: int, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= maximum:
        raise ArgumentTypeError(Message("expected a number from 0 to {}, not {!r}", maximum, text))
    return number


def fraction(text: str) -> float:
    return number_up_to(1, text)


class AppendNamed(Action):
    """Append NAME=VALUE, or the (name, value) of its type. A name must not be given twice."""

    def __call__(
        self,
        parser: ArgumentParser,
        namespace: Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        earlier = getattr(namespace, self.dest)
        if _name(values) in map(_name, earlier):
            raise ArgumentError(self, Message("{} is given twice", _name(values)))
        setattr(namespace, self.dest, [*earlier, values])


def _name(entry: tuple[str, Any] | str) -> str:
    return entry.partition("=")[0] if isinstance(entry, str) else entry[0]
