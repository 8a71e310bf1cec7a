"""Run any protocol on standard input and output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Protocol

from protocols.session import POLL_INTERVAL, LineProtocol, StdioSession

SHUTDOWN_TIMEOUT = 0.7  # seconds to wait for threads at exit
SWITCH_INTERVAL = 0.001  # thread switch interval of the interpreter in seconds


class ThreadedLineProtocol(LineProtocol, Protocol):
    """A line-based protocol that runs threads."""

    def drain(self, timeout: float | None = None) -> bool:
        """Finish pending replies after the end of the input. Return whether all are sent."""

    def close(self, timeout: float) -> bool:
        """Stop all threads. Return whether they ended within about `timeout` seconds."""


def serve(make_protocol: Callable[[StdioSession], ThreadedLineProtocol]) -> int:
    """Run a protocol on standard input and output, and return the exit status."""
    # The clock's thread needs frequent turns while Python code is searching.
    sys.setswitchinterval(SWITCH_INTERVAL)
    session = StdioSession.from_stdio()
    protocol = make_protocol(session)
    try:
        session.run(protocol)
        while session.is_output_open() and not protocol.drain(POLL_INTERVAL):
            pass
    finally:
        ended = protocol.close(SHUTDOWN_TIMEOUT)
    if not ended:
        # A thread that runs a user's evaluation, a compiler or an import cannot be interrupted.
        os._exit(0)
    return 0
