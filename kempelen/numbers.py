"""Numbers on the command line."""

from argparse import ArgumentTypeError


def positive(text: str) -> int:
    """Read a whole number above 0, for argparse."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ArgumentTypeError(f"expected a whole number above 0, not {text!r}")
    return number
