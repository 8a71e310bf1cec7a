"""`kempelen uci`: speak UCI on standard input and output.

Numba, numpy, chess and argparse are not imported before the first line is answered.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kempelen import __version__
from protocols import stdio
from protocols.client.own_engine import AUTHORS
from protocols.session import LineWriter
from protocols.session_context import STANDALONE, SessionContext
from protocols.uci.protocol import UciProtocol

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from protocols.uci.options import Option


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--tune",
        action="store_true",
        help="make every constant of the search an option, for tuners; start later for it",
    )


def run(arguments: Namespace) -> int:
    """Serve until `quit` or the end of input."""
    return serve(arguments.tune)


def serve(tune: bool = False) -> int:
    """Speak UCI until `quit`, the end of input, or a closed output."""
    return stdio.serve(partial(create_engine, tune=tune))


def create_engine(
    session: LineWriter,
    tune: bool = False,
    session_context: SessionContext = STANDALONE,
) -> UciProtocol:
    """Return the engine that answers a session; see Uci for what it may."""
    return UciProtocol(
        f"Kempelen {__version__}",
        AUTHORS,
        session.send,
        session.log_to,
        extra_options=_tuning_options() if tune else (),
        session_context=session_context,
    )


def _tuning_options() -> tuple[Option[UciProtocol], ...]:
    from protocols.uci.tuning import tuning_options

    return tuning_options()
