"""Number types for use with argparse.

Each function raises ArgumentTypeError, with a message for the user, if the text is invalid.
"""

from argparse import ArgumentTypeError
from math import inf

MIN_BOARD_SIZE = 2
MAX_INT = 10**15  # compiled searches count in 64 bits


def positive_int(text: str) -> int:
    """Parse an integer of at least 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ArgumentTypeError(f"expected a whole number above 0, not {text!r}")
    if number > MAX_INT:
        raise ArgumentTypeError(f"expected a whole number up to {MAX_INT}, not {text!r}")
    return number


def non_negative_int(text: str) -> int:
    """Parse an integer of at least 0."""
    return 0 if text == "0" else positive_int(text)


def board_size(text: str) -> int | str:
    """Parse the size of a Go board, which is a number or a width and height such as 9x13."""
    from agent.games.go import MAX_SIZE, format_size, parse_size

    try:
        edges = parse_size(int(text) if text.isascii() and text.isdecimal() else text)
    except ValueError:
        edges = (0, 0)
    if min(edges) < MIN_BOARD_SIZE:
        raise ArgumentTypeError(
            f"expected a size from {MIN_BOARD_SIZE} to {MAX_SIZE}, or WIDTHxHEIGHT such as 9x13, "
            f"not {text!r}"
        )
    return format_size(*edges)


def positive_seconds(text: str) -> float:
    """Parse a positive number of seconds."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < inf:
        raise ArgumentTypeError(f"expected seconds above 0, not {text!r}")
    return number


def number_up_to(maximum: int, text: str) -> float:
    """Parse a number from 0 to `maximum`."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= maximum:
        raise ArgumentTypeError(f"expected a number from 0 to {maximum}, not {text!r}")
    return number


def fraction(text: str) -> float:
    """Parse a number from 0 to 1."""
    return number_up_to(1, text)
