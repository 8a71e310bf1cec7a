"""Numbers on the command line."""

from argparse import ArgumentTypeError
from math import inf

SMALLEST_BOARD = 2
MOST = 10**15  # what kernels count with has 64 bits


def positive(text: str) -> int:
    """Read a whole number above 0, for argparse."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ArgumentTypeError(f"expected a whole number above 0, not {text!r}")
    if number > MOST:
        raise ArgumentTypeError(f"expected a whole number up to {MOST}, not {text!r}")
    return number


def count(text: str) -> int:
    """Read a whole number from 0 on, for argparse."""
    return 0 if text == "0" else positive(text)


def board_size(text: str) -> int | str:
    """Read the size of a board of Go, such as 9 or 9x13, for argparse."""
    from agent.games.go import LARGEST, read_size, write_size

    try:
        edges = read_size(int(text) if text.isascii() and text.isdecimal() else text)
    except ValueError:
        edges = (0, 0)
    if min(edges) < SMALLEST_BOARD:
        raise ArgumentTypeError(
            f"expected a size from {SMALLEST_BOARD} to {LARGEST}, or WIDTHxHEIGHT such as 9x13, "
            f"not {text!r}"
        )
    return write_size(*edges)


def seconds(text: str) -> float:
    """Read a time above 0, for argparse."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < inf:
        raise ArgumentTypeError(f"expected seconds above 0, not {text!r}")
    return number


def up_to(most: int, text: str) -> float:
    """Read a number from 0 to `most`, for what argparse calls."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= most:
        raise ArgumentTypeError(f"expected a number from 0 to {most}, not {text!r}")
    return number


def share(text: str) -> float:
    """Read a number from 0 to 1, for argparse."""
    return up_to(1, text)
