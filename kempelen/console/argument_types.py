"""Numbers on the command line."""

from argparse import ArgumentTypeError
from math import inf

MIN_BOARD_SIZE = 2
MAX_INT = 10**15  # what kernels count with has 64 bits


def positive_int(text: str) -> int:
    """Read a whole number above 0, for argparse."""
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
    """Read a whole number from 0 on, for argparse."""
    return 0 if text == "0" else positive_int(text)


def board_size(text: str) -> int | str:
    """Read the size of a board of Go, such as 9 or 9x13, for argparse."""
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
    """Read a time above 0, for argparse."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < inf:
        raise ArgumentTypeError(f"expected seconds above 0, not {text!r}")
    return number


def int_up_to(most: int, text: str) -> float:
    """Read a number from 0 to `most`, for what argparse calls."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= most:
        raise ArgumentTypeError(f"expected a number from 0 to {most}, not {text!r}")
    return number


def fraction(text: str) -> float:
    """Read a number from 0 to 1, for argparse."""
    return int_up_to(1, text)
