"""`kempelen uci`: speak UCI on standard input and output.

Numba, numpy, chess and argparse are not imported before the first line is answered.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kempelen import __version__
from protocols import pipes
from protocols.allowance import ALONE, Allowance
from protocols.client.ours import AUTHORS
from protocols.session import Voice
from protocols.uci.protocol import Uci

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
    return pipes.serve(partial(make, tune=tune))


def make(
    session: Voice,
    tune: bool = False,
    allowance: Allowance = ALONE,
) -> Uci:
    """Return the engine that answers a session; see Uci for what it may."""
    return Uci(
        f"Kempelen {__version__}",
        AUTHORS,
        session.send,
        session.log_to,
        more_options=_tuning_options() if tune else (),
        allowance=allowance,
    )


def _tuning_options() -> tuple[Option[Uci], ...]:
    from protocols.uci.tuning import tuning_options

    return tuning_options()
