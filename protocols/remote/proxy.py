"""What a front end and a server say to each other, kept so far as it must be said again.

A dialogue does no input and output, and is told the time: seconds of a monotonic clock. What
a front end asks while there is no server is kept; when one is there, `resume` says all that a
server must know, and asks again what has not been answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

# So many lines that are no part of the game may wait for a server.
MAX_HELD_LINES = 256
# A front end that asks whether all is ready is answered after so many seconds, server or not.
READY_TIMEOUT_S = 2.0
# Of the time that is left, so much is kept to answer without a server: a share, and at most so
# many seconds.
TIME_RESERVE_FRACTION = 0.2
MAX_TIME_RESERVE_S = 0.3
# How long before its time is over a search is answered by the best move heard of, in seconds,
# where the server is there but says nothing; of very little time a share.
MAX_LAST_RESERVE_S = 0.01
LAST_RESERVE_FRACTION = 0.1
# How much later than asked for, in seconds, an answer may be before it is given without a server
# that is there.
REPLY_TOLERANCE_S = 3.0


class Outgoing(NamedTuple):
    """Lines to be sent: to the server, and to the front end. drop: leave this server."""

    server: Sequence[str] = ()
    frontend: Sequence[str] = ()
    disconnect: bool = False


NOTHING = Outgoing()


class Proxy(Protocol):
    """One front end's, in one protocol."""

    # Whether the front end has ended it.
    finished: bool
    # Why it cannot go on; "" while it can.
    failure: str

    def on_frontend_line(self, line: str, now: float) -> Outgoing:
        """Take a line of the front end."""

    def on_server_line(self, line: str, now: float) -> Outgoing:
        """Take a line of the server."""

    def on_connected(self, now: float) -> Outgoing:
        """Begin with a server that knows nothing, the first or a later one."""

    def on_disconnected(self, now: float) -> Outgoing:
        """Take note that there is no server now."""

    def deadline(self) -> float | None:
        """Return when something must be answered, server or not; None if nothing must."""

    def on_timeout(self, now: float, reason: str) -> Outgoing:
        """Answer what is due. reason: why no server has done so."""

    def abort(self, now: float, reason: str) -> Outgoing:
        """Answer all that has not been answered, and tell why no server will."""

    def on_overlong_line(self) -> Outgoing:
        """Say that a line of the front end was dropped."""

    def notify(self, message: str) -> Outgoing:
        """Tell the front end something that it may show, if the protocol has a way to."""

    def has_pending(self) -> bool:
        """Tell whether something that will be answered has not been."""

    def stop(self) -> Outgoing:
        """End what would not end by itself: no more lines will come."""


def earliest(times: Iterable[float | None]) -> float | None:
    """Return the first of some times, None if there is none."""
    return min((each for each in times if each is not None), default=None)


def silent_server_deadline(asked: float, seconds: float) -> float:
    """Return when to answer what a server that is there has not, with a move that is known."""
    return asked + seconds - min(LAST_RESERVE_FRACTION * seconds, MAX_LAST_RESERVE_S)


def no_server_deadline(asked: float, seconds: float) -> float:
    """Return when to answer without a server what was asked with `seconds` left on the clock."""
    return asked + seconds - min(TIME_RESERVE_FRACTION * seconds, MAX_TIME_RESERVE_S)
