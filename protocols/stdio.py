"""What all protocols on standard input and output share: how a session begins and ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Protocol

from protocols.session import LineProtocol, StdioSession

# How long the end of the program waits for its threads, in seconds.
SHUTDOWN_TIMEOUT = 0.7
# How long a thread may run before another gets its turn, in seconds.
SWITCH_INTERVAL = 0.001
# How often somebody looks whether the answers are still read while the last are thought about.
POLL_INTERVAL = 0.25


class ThreadedLineProtocol(LineProtocol, Protocol):
    """A protocol with threads of its own."""

    def drain(self, timeout: float | None = None) -> bool:
        """After the last line: answer what is still to be answered; return whether all is."""

    def close(self, timeout: float) -> bool:
        """Stop everything; return whether all threads ended within about `timeout` seconds."""


def serve(make_protocol: Callable[[StdioSession], ThreadedLineProtocol]) -> int:
    """Speak a protocol until its end, the end of input, or a closed output."""
    # The clock's thread must get its turn soon while Python code is searching.
    sys.setswitchinterval(SWITCH_INTERVAL)
    session = StdioSession.from_stdio()
    protocol = make_protocol(session)
    try:
        if session.run(protocol):
            while session.is_output_open() and not protocol.drain(POLL_INTERVAL):
                pass
    except KeyboardInterrupt:
        pass
    if not protocol.close(SHUTDOWN_TIMEOUT):
        # A thread is in a user's evaluation, a compiler or an import, which cannot be cut short.
        os._exit(0)
    return 0
