"""A dialogue in GTP: the game, and the commands that are not answered yet.

Each command is answered once. Ours, which tell a server of the game, stand in the same queue.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from protocols.gtp.messages import ParsedCommand, failure_response, parse_line
from protocols.remote.gtp_replay import GENMOVE_COMMANDS, GtpReplay
from protocols.remote.proxy import NOTHING, Outgoing, no_server_deadline

# Their answers are passed on line by line, for they last.
STREAMING_COMMANDS = ("lz-analyze", "kata-analyze", "cgos-analyze", *GENMOVE_COMMANDS[2:])
# Of one answer.
MAX_REPLY_LINES = 10_000
INTERRUPT = "# interrupt"


@dataclass
class PendingCommand:
    """A command without an answer. Times are seconds of the monotonic clock.

    ours: of no front end. lines: of its answer, so far. begun: of an answer that is passed on line
    by line, that its first line has been.
    """

    line: str
    call: ParsedCommand
    asked_at: float
    internal: bool = False
    lines: list[str] = field(default_factory=list)
    streaming: bool = False

    @property
    def move(self) -> str:
        """The move that an answer line by line ends with, or ""."""
        words = self.lines[-1].split() if self.lines else []
        return words[1] if len(words) == 2 and words[0] == "play" else ""


class GtpProxy:
    """One front end's, in GTP. patience: seconds to wait for a server where no clock runs."""

    def __init__(self, timeout: float) -> None:
        self.finished = False
        self.failure = ""
        self._timeout = timeout
        self._connected = False
        self._lost_at: float | None = None
        self._replay = GtpReplay()
        self._queue: deque[PendingCommand] = deque()

    def on_frontend_line(self, line: str, now: float) -> Outgoing:
        """Take a line of the front end."""
        call = parse_line(line)
        if call is None:
            interrupts = self._connected and line.strip().lower() == INTERRUPT
            return Outgoing(server=(line,)) if interrupts else NOTHING
        self.finished = call.name == "quit"
        self._queue.append(PendingCommand(line, call, now))
        return Outgoing(server=(line,)) if self._connected else NOTHING

    def on_server_line(self, line: str, now: float) -> Outgoing:
        """Take a line of the server."""
        if not self._queue:
            return NOTHING
        command = self._queue[0]
        if not line and not command.lines:
            return NOTHING
        if not line:
            return self._complete(command, now)
        command.lines.append(line)
        if len(command.lines) > MAX_REPLY_LINES:
            self.failure = f"the server's answer to {command.call.name} does not end"
        if command.internal or command.call.name not in STREAMING_COMMANDS:
            return NOTHING
        if len(command.lines) == 1:
            again, command.streaming = command.streaming, command.streaming or line.startswith("=")
            return NOTHING if again or not command.streaming else Outgoing(frontend=(line,))
        del command.lines[1:-1]
        return Outgoing(frontend=(line,)) if command.streaming else NOTHING

    def on_connected(self, now: float) -> Outgoing:
        """Begin with a server that knows nothing, the first or a later one."""
        self._connected, self._lost_at = True, None
        asked = self._frontend_commands()
        thinking = asked[0] if asked and asked[0].call.name in GENMOVE_COMMANDS else None
        lines = (
            self._replay.replay_commands(thinking.call, now - thinking.asked_at)
            if thinking
            else self._replay.replay_commands()
        )
        for command in asked:
            command.lines.clear()
        internal = [PendingCommand(line, _call(line), now, internal=True) for line in lines]
        self._queue = deque(internal + asked)
        return Outgoing(server=[command.line for command in self._queue])

    def on_disconnected(self, now: float) -> Outgoing:
        """Take note that there is no server now."""
        self._connected, self._lost_at = False, now
        self._queue = deque(self._frontend_commands())
        if self._queue and self._queue[0].streaming and self._queue[0].move:
            return self._complete(self._queue[0], now)  # all but the empty line has come
        return NOTHING

    def deadline(self) -> float | None:
        """Return when something must be answered, server or not; None if nothing must."""
        if self._connected or not self._queue or self._lost_at is None:
            return None
        return min(map(self._due, self._queue))

    def on_timeout(self, now: float, reason: str) -> Outgoing:
        """Answer what is due, and all that was asked before it."""
        frontend: list[str] = []
        while not self._connected and any(self._due(command) <= now for command in self._queue):
            frontend.append(_failure_reply(self._queue.popleft(), reason))
        return Outgoing(frontend=frontend)

    def abort(self, now: float, reason: str) -> Outgoing:
        """Answer all that has not been answered."""
        frontend = [_failure_reply(command, reason) for command in self._frontend_commands()]
        self._queue.clear()
        return Outgoing(frontend=frontend)

    def on_overlong_line(self) -> Outgoing:
        """Answer a line that was dropped."""
        return Outgoing(
            frontend=(failure_response(ParsedCommand("", "", ()), "the line is too long"),)
        )

    def notify(self, message: str) -> Outgoing:
        """Tell the front end nothing: GTP has no way to."""
        return NOTHING

    def has_pending(self) -> bool:
        """Tell whether something that will be answered has not been."""
        return bool(self._frontend_commands())

    def stop(self) -> Outgoing:
        """End what would not end by itself: any line ends an analysis."""
        return Outgoing(server=("",)) if self._queue and self._connected else NOTHING

    def _frontend_commands(self) -> list[PendingCommand]:
        return [command for command in self._queue if not command.internal]

    def _complete(self, command: PendingCommand, now: float) -> Outgoing:
        """Take note that the answer to the first command is whole."""
        self._queue.popleft()
        succeeded = command.lines[0].startswith("=")
        if command.internal:
            if not succeeded and not command.call.name.startswith("time_left"):
                self.failure = (
                    f"the server cannot go on with the game: {command.line}: {command.lines[0]}"
                )
            return NOTHING
        if succeeded:
            first = command.lines[0].removeprefix("=").removeprefix(command.call.id).strip()
            answer = command.move if command.call.name in STREAMING_COMMANDS else first
            self._replay.record(command.call, answer, now - command.asked_at)
        if command.streaming:
            return Outgoing(frontend=("",))
        return Outgoing(frontend=("\n".join(command.lines) + "\n",))

    def _due(self, command: PendingCommand) -> float:
        """Return when to answer a command that no server has answered."""
        since = max(command.asked_at, self._lost_at or command.asked_at)
        left = None
        if command.call.name in GENMOVE_COMMANDS:
            left = self._replay.remaining_time(command.call)
        by_patience = since + self._timeout
        return (
            by_patience
            if left is None
            else min(by_patience, no_server_deadline(command.asked_at, left))
        )


def _call(line: str) -> ParsedCommand:
    call = parse_line(line)
    assert call is not None
    return call


def _failure_reply(command: PendingCommand, reason: str) -> str:
    """Return the answer of no server; of an analysis that has begun, its end."""
    return "" if command.streaming else failure_response(command.call, reason)
