"""`kempelen xboard`: speak the xboard protocol on standard input and output.

Numba, NumPy, chess and argparse are slow to load, so they are imported after the response to
`protover`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kempelen.engines import create_xboard_engine
from protocols import stdio

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Declare nothing: the command has no arguments."""


def run(arguments: Namespace) -> int:
    """Serve the xboard protocol until `quit` or the end of input, and return the exit status."""
    return serve()


def serve() -> int:
    """Speak the xboard protocol until `quit`, the end of input, or a closed output."""
    return stdio.serve(create_xboard_engine)
