"""`kempelen uci`: speak UCI on standard input and output.

Slow imports (Numba, NumPy, chess, argparse) happen after the first response.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kempelen.engines import create_uci_engine
from protocols import stdio

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--tune",
        action="store_true",
        help="offer the constants of the search as UCI options, for tuners; slows the start",
    )


def run(arguments: Namespace) -> int:
    return serve(arguments.tune)


def serve(tune: bool = False) -> int:
    """Run a UCI session. If `tune` is true, the search constants are UCI options."""
    return stdio.serve(partial(create_uci_engine, tune=tune))
