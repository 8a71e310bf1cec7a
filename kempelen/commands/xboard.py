"""`kempelen xboard`: speak the xboard protocol on standard input and output.

Slow imports (Numba, NumPy, chess, argparse) happen after the response to `protover`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kempelen.engines import create_xboard_engine
from protocols import stdio

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Add nothing, because the command has no arguments."""


def run(arguments: Namespace) -> int:
    return serve()


def serve() -> int:
    return stdio.serve(create_xboard_engine)
