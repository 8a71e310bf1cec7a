"""The base class of the proxies, which store a session's state so that another server can continue.

A proxy performs no I/O. The argument `now` is the time in seconds of a monotonic clock. A time of
`inf` means never.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import inf
from typing import ClassVar, Generic, NamedTuple, TypeVar

# Time reserved for answering: a fraction of the remaining time, with a maximum. The proxy answers
# if no server is connected, or later if a connected server stays silent.
TIME_RESERVE_FRACTION, MAX_TIME_RESERVE_S = 0.2, 0.3
LAST_RESERVE_FRACTION, MAX_LAST_RESERVE_S = 0.1, 0.01

Command = TypeVar("Command")


class OutgoingLines(NamedTuple):
    """Lines for the server and the front end, and a flag to disconnect from the server."""

    server: Sequence[str] = ()
    frontend: Sequence[str] = ()
    disconnect: bool = False


NOTHING = OutgoingLines()


class Proxy(ABC, Generic[Command]):
    """The state of one session in one protocol, such as UCI.

    Without a server, commands are stored until a server is connected or an answer is due. If no
    clock is running, the proxy waits `timeout` seconds for a server.
    """

    # The command that stops a search, and the reply to an overlong line, which is dropped.
    STOP_LINE: ClassVar[str]
    OVERLONG_REPLY: ClassVar[str]

    def __init__(self, timeout: float) -> None:
        # Whether the front end has ended the session.
        self.finished = False
        # The reason why the session cannot continue, or "".
        self.failure = ""
        self._timeout = timeout
        self._connected = False
        self._lost_at = -inf
        # The unanswered commands, which are answered in this order.
        self._pending: list[Command] = []

    @abstractmethod
    def on_frontend_line(self, line: str, now: float) -> OutgoingLines:
        """Handle a line from the front end, such as a chess GUI."""

    def on_overlong_line(self, now: float) -> OutgoingLines:
        """Handle a line from the front end that was dropped because it was too long."""
        return OutgoingLines(frontend=(self.OVERLONG_REPLY,))

    @abstractmethod
    def on_server_line(self, line: str, now: float) -> OutgoingLines:
        """Handle a line from the server."""

    def on_connected(self, now: float) -> OutgoingLines:
        """Return the lines that restore the session and the unanswered commands on a server."""
        self._connected = True
        return OutgoingLines(server=[line for line in self._replay(now) if line])

    def on_disconnected(self, now: float) -> OutgoingLines:
        """Record that the connection to the server was lost."""
        self._connected, self._lost_at = False, now
        return NOTHING

    def deadline(self) -> float:
        """Return the time at which the next answer is due."""
        return min(map(self._due, self._pending), default=inf)

    def on_timeout(self, now: float, reason: str) -> OutgoingLines:
        """Answer the commands that are due, and give `reason` as the explanation."""
        frontend: list[str] = []
        while any(self._due(command) <= now for command in self._pending):
            frontend += self._answer(self._pending.pop(0), reason)
        return OutgoingLines(frontend=frontend)

    def abort(self, reason: str) -> OutgoingLines:
        """Answer all pending commands, and send `reason` to the front end."""
        answers = [line for command in self._pending for line in self._answer(command, reason)]
        self._pending.clear()
        return OutgoingLines(frontend=answers)

    def notify(self, message: str) -> OutgoingLines:
        """Send a message to the front end if the protocol supports messages."""
        return NOTHING

    def has_pending(self) -> bool:
        """Return whether a command is still unanswered."""
        return bool(self._pending)

    @property
    def pending_count(self) -> int:
        return len(self._pending)

    def stop(self) -> OutgoingLines:
        """Stop infinite searches after the end of input."""
        running = self._connected and self._pending
        return OutgoingLines(server=(self.STOP_LINE,)) if running else NOTHING

    @abstractmethod
    def _replay(self, now: float) -> list[str]:
        """Return the lines for `on_connected`. Empty lines are not sent."""

    @abstractmethod
    def _due(self, command: Command) -> float:
        """Return the latest time at which to answer a command."""

    @abstractmethod
    def _answer(self, command: Command, reason: str) -> list[str]:
        """Return the proxy's own answer to a command."""

    def _clock_due(self, since: float, seconds: float) -> float:
        """Return when to answer if the clock had `seconds` left at the time `since`."""
        fraction, maximum = (
            (LAST_RESERVE_FRACTION, MAX_LAST_RESERVE_S)
            if self._connected
            else (TIME_RESERVE_FRACTION, MAX_TIME_RESERVE_S)
        )
        return since + seconds - min(fraction * seconds, maximum)


def keep_last(lines: dict[str, str], name: str, line: str) -> None:
    """Store the last line for `name`. The dictionary stays in the order of arrival."""
    lines.pop(name, None)
    lines[name] = line
