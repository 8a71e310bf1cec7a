"""The interface of a proxy, which stores a session's state so that another server can continue.

A proxy performs no I/O. The argument `now` is the time in seconds of a monotonic clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

# Maximum number of held lines that do not concern the game.
MAX_HELD_LINES = 256
# A front end's readiness check is answered after this time, even without a server.
READY_TIMEOUT_S = 2.0
# Time reserved for answering without a server: a fraction of the remaining time, with a maximum.
TIME_RESERVE_FRACTION = 0.2
MAX_TIME_RESERVE_S = 0.3
# Time reserved for playing the best known move if a connected server stays silent: a maximum, and a
# fraction that applies if little time remains.
MAX_LAST_RESERVE_S = 0.01
LAST_RESERVE_FRACTION = 0.1
# Additional time for a connected server before the proxy answers itself.
REPLY_TOLERANCE_S = 3.0


class OutgoingLines(NamedTuple):
    """Lines for the server and the front end, and a flag to disconnect from the server."""

    server: Sequence[str] = ()
    frontend: Sequence[str] = ()
    disconnect: bool = False


NOTHING = OutgoingLines()


class Proxy(Protocol):
    """The state of one session in one protocol, such as UCI.

    Without a server, commands are stored until a server is connected or an answer is due.
    """

    # Whether the front end has ended the session.
    finished: bool
    # The reason why the session cannot continue, or "".
    failure: str

    def on_frontend_line(self, line: str, now: float) -> OutgoingLines:
        """Handle a line from the front end, such as a chess GUI."""

    def on_server_line(self, line: str, now: float) -> OutgoingLines:
        """Handle a line from the server."""

    def on_connected(self, now: float) -> OutgoingLines:
        """Return the lines that restore the session and the unanswered commands on a server."""

    def on_disconnected(self, now: float) -> OutgoingLines:
        """Record that the connection to the server was lost."""

    def deadline(self) -> float | None:
        """Return the time at which the next answer is due, or None if no answer is due."""

    def on_timeout(self, now: float, reason: str) -> OutgoingLines:
        """Answer the commands that are due, and give `reason` as the explanation."""

    def abort(self, now: float, reason: str) -> OutgoingLines:
        """Answer all pending commands, and send `reason` to the front end."""

    def on_overlong_line(self) -> OutgoingLines:
        """Report that an overlong line from the front end was dropped."""

    def notify(self, message: str) -> OutgoingLines:
        """Send a message to the front end if the protocol supports messages."""

    def has_pending(self) -> bool:
        """Return whether a command is still unanswered."""

    def stop(self) -> OutgoingLines:
        """Stop infinite searches after the end of input."""


def earliest(times: Iterable[float | None]) -> float | None:
    return min((time for time in times if time is not None), default=None)


def silent_server_deadline(asked: float, seconds: float) -> float:
    """Return when to play the best known move if a connected server does not answer.

    The clock had `seconds` left at the time `asked`.
    """
    return asked + seconds - min(LAST_RESERVE_FRACTION * seconds, MAX_LAST_RESERVE_S)


def no_server_deadline(asked: float, seconds: float) -> float:
    """Return when to answer a command if no server is connected.

    The clock had `seconds` left at the time `asked`.
    """
    return asked + seconds - min(TIME_RESERVE_FRACTION * seconds, MAX_TIME_RESERVE_S)
