"""`kempelen xboard`: speak xboard's protocol on standard input and output.

Numba, numpy, chess and argparse are not imported before `protover` is answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kempelen import __version__
from protocols import pipes
from protocols.allowance import ALONE, Allowance
from protocols.client.ours import AUTHORS
from protocols.session import Voice
from protocols.xboard.protocol import Xboard

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments: there are none."""


def run(arguments: Namespace) -> int:
    """Serve until `quit` or the end of input."""
    return serve()


def serve() -> int:
    """Speak xboard's protocol until `quit`, the end of input, or a closed output."""
    return pipes.serve(make)


def make(
    session: Voice,
    allowance: Allowance = ALONE,
) -> Xboard:
    """Return the engine that answers a session; see ChessPlay for what it may."""
    return Xboard(
        f"Kempelen {__version__}",
        AUTHORS,
        session.send,
        session.log_to,
        allowance=allowance,
    )
