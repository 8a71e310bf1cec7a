"""Run any protocol on standard input and output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Protocol

from protocols.session import LineProtocol, StdioSession

# In seconds: time to wait for threads at exit, the interpreter's thread switch interval, and how
# often to check during the last searches that the output is still open.
SHUTDOWN_TIMEOUT = 0.7
SWITCH_INTERVAL = 0.001
POLL_INTERVAL = 0.25


class ThreadedLineProtocol(LineProtocol, Protocol):
    """A line-based protocol that runs threads."""

    def drain(self, timeout: float | None = None) -> bool:
        """Finish pending replies after the end of the input.

        Return whether all replies are sent.
        """

    def close(self, timeout: float) -> bool:
        """Stop all threads. Return whether they ended within about `timeout` seconds."""


def serve(make_protocol: Callable[[StdioSession], ThreadedLineProtocol]) -> int:
    """Run a protocol and return the exit status.

    The protocol runs until it is finished, the input ends, or the output is closed.
    """
    # The clock's thread needs frequent turns while Python code is searching.
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
        # A thread that runs a user's evaluation, a compiler or an import cannot be interrupted.
        os._exit(0)
    return 0
