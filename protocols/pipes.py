"""What all protocols on standard input and output share: how a session begins and ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Protocol

from protocols.session import LineProtocol, Session

# How long the end of the program waits for its threads, in seconds.
GRACE = 0.7
# How long a thread may run before another gets its turn, in seconds.
SWITCH_INTERVAL = 0.001
# How often somebody looks whether the answers are still read while the last are thought about.
GLANCE = 0.25


class Served(LineProtocol, Protocol):
    """A protocol with threads of its own."""

    def drain(self, timeout: float | None = None) -> bool:
        """After the last line: answer what is still to be answered; return whether all is."""

    def close(self, timeout: float) -> bool:
        """Stop everything; return whether all threads ended within about `timeout` seconds."""


def serve(make: Callable[[Session], Served]) -> int:
    """Speak a protocol until its end, the end of input, or a closed output."""
    # The clock's thread must get its turn soon while Python code is searching.
    sys.setswitchinterval(SWITCH_INTERVAL)
    session = Session.standard()
    protocol = make(session)
    try:
        if session.run(protocol):
            while session.heard() and not protocol.drain(GLANCE):
                pass
    except KeyboardInterrupt:
        pass
    if not protocol.close(GRACE):
        # A thread is in a user's evaluation, a compiler or an import, which cannot be cut short.
        os._exit(0)
    return 0
