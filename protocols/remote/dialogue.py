"""What a front end and a server say to each other, kept so far as it must be said again.

A dialogue does no input and output, and is told the time: seconds of a monotonic clock. What
a front end asks while there is no server is kept; when one is there, `resume` says all that a
server must know, and asks again what has not been answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

# So many lines that are no part of the game may wait for a server.
MOST_HELD = 256
# A front end that asks whether all is ready is answered after so many seconds, server or not.
READY_PATIENCE = 2.0
# Of the time that is left, so much is kept to answer without a server: a share, and at most so
# many seconds.
RESERVE_SHARE = 0.2
RESERVE_MOST = 0.3
# How long before its time is over a search is answered by the best move heard of, in seconds,
# where the server is there but says nothing; of very little time a share.
LAST_MOMENT = 0.01
LAST_SHARE = 0.1
# How much later than asked for, in seconds, an answer may be before it is given without a server
# that is there.
LATENESS = 3.0


class Traffic(NamedTuple):
    """Lines to be sent: to the server, and to the front end. drop: leave this server."""

    server: Sequence[str] = ()
    front: Sequence[str] = ()
    drop: bool = False


NOTHING = Traffic()


class Dialogue(Protocol):
    """One front end's, in one protocol."""

    # Whether the front end has ended it.
    finished: bool
    # Why it cannot go on; "" while it can.
    failed: str

    def asked(self, line: str, now: float) -> Traffic:
        """Take a line of the front end."""

    def told(self, line: str, now: float) -> Traffic:
        """Take a line of the server."""

    def resume(self, now: float) -> Traffic:
        """Begin with a server that knows nothing, the first or a later one."""

    def lost(self, now: float) -> Traffic:
        """Take note that there is no server now."""

    def due(self) -> float | None:
        """Return when something must be answered, server or not; None if nothing must."""

    def overdue(self, now: float, reason: str) -> Traffic:
        """Answer what is due. reason: why no server has done so."""

    def give_up(self, now: float, reason: str) -> Traffic:
        """Answer all that has not been answered, and tell why no server will."""

    def overlong(self) -> Traffic:
        """Say that a line of the front end was dropped."""

    def tell(self, message: str) -> Traffic:
        """Tell the front end something that it may show, if the protocol has a way to."""

    def asking(self) -> bool:
        """Tell whether something that will be answered has not been."""

    def stop(self) -> Traffic:
        """End what would not end by itself: no more lines will come."""


def soonest(times: Iterable[float | None]) -> float | None:
    """Return the first of some times, None if there is none."""
    return min((each for each in times if each is not None), default=None)


def last_moment(asked: float, seconds: float) -> float:
    """Return when to answer what a server that is there has not, with a move that is known."""
    return asked + seconds - min(LAST_SHARE * seconds, LAST_MOMENT)


def answer_by(asked: float, seconds: float) -> float:
    """Return when to answer without a server what was asked with `seconds` left on the clock."""
    return asked + seconds - min(RESERVE_SHARE * seconds, RESERVE_MOST)
