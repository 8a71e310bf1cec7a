"""`kempelen xboard`: speak xboard's protocol on standard input and output.

Numba, numpy, chess and argparse are not imported before `protover` is answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kempelen import __version__
from protocols import stdio
from protocols.client.own_engine import AUTHORS
from protocols.session import LineWriter
from protocols.session_context import STANDALONE, SessionContext
from protocols.xboard.protocol import XboardProtocol

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments: there are none."""


def run(arguments: Namespace) -> int:
    """Serve until `quit` or the end of input."""
    return serve()


def serve() -> int:
    """Speak xboard's protocol until `quit`, the end of input, or a closed output."""
    return stdio.serve(create_engine)


def create_engine(
    session: LineWriter,
    session_context: SessionContext = STANDALONE,
) -> XboardProtocol:
    """Return the engine that answers a session; see ChessSession for what it may."""
    return XboardProtocol(
        f"Kempelen {__version__}",
        AUTHORS,
        session.send,
        session.log_to,
        session_context=session_context,
    )
