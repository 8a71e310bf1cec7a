"""`kempelen uci`: speak UCI on standard input and output.

Numba, numpy, chess and argparse are not imported before the first line is answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kempelen import __version__, serving
from protocols.session import Session
from protocols.uci.protocol import Uci

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments: there are none."""


def run(arguments: Namespace) -> int:
    """Serve until `quit` or the end of input."""
    return serve()


def serve() -> int:
    """Speak UCI until `quit`, the end of input, or a closed output."""
    return serving.serve(make)


def make(session: Session) -> Uci:
    """Return the engine that answers a session."""
    return Uci(f"Kempelen {__version__}", "The Kempelen authors", session.send, session.log_to)
