"""`kempelen uci`: speak UCI on standard input and output.

Numba, numpy, chess and argparse are not imported before the first line is answered.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from kempelen import __version__
from protocols.session import Session
from protocols.uci.protocol import Uci

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

# How long the end of the program waits for its threads, in seconds.
GRACE = 0.7
# How long a thread may run before another gets its turn, in seconds.
SWITCH_INTERVAL = 0.001


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments: there are none."""


def run(arguments: Namespace) -> int:
    """Serve until `quit` or the end of input."""
    return serve()


def serve() -> int:
    """Speak UCI until `quit`, the end of input, or a closed output."""
    # The clock's thread must get its turn soon while Python code is searching.
    sys.setswitchinterval(SWITCH_INTERVAL)
    session = Session.standard()
    uci = Uci(f"Kempelen {__version__}", "The Kempelen authors", session.send, session.log_to)
    session.run(uci)
    if not uci.close(GRACE):
        # A thread is in a user's evaluation, a compiler or an import, which cannot be cut short.
        os._exit(0)
    return 0
