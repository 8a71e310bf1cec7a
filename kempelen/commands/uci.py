"""`kempelen uci`: speak UCI on standard input and output.

Numba, NumPy, chess and argparse are slow to load, so they are imported after the first response.
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
        help="make the constants of the search UCI options, for tuners; slows the start",
    )


def run(arguments: Namespace) -> int:
    """Serve UCI until `quit` or the end of input, and return the exit status."""
    return serve(arguments.tune)


def serve(tune: bool = False) -> int:
    """Speak UCI until `quit`, the end of input, or a closed output.

    If `tune` is set, the search constants are offered as UCI options.
    """
    return stdio.serve(partial(create_uci_engine, tune=tune))
