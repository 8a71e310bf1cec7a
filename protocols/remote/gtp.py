"""The GTP proxy, which stores the game and the unanswered commands."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from protocols.gtp.messages import ParsedCommand, failure_response, parse_line
from protocols.remote.gtp_replay import GENMOVE_COMMANDS, GtpReplay
from protocols.remote.proxy import NOTHING, OutgoingLines, no_server_deadline

# Responses to these commands take long, so they are forwarded line by line.
STREAMING_COMMANDS = ("lz-analyze", "kata-analyze", "cgos-analyze", *GENMOVE_COMMANDS[2:])
# Maximum number of lines in a response.
MAX_REPLY_LINES = 10_000
INTERRUPT = "# interrupt"


@dataclass
class PendingCommand:
    """An unanswered command. Times are in seconds of the monotonic clock.

    - `internal`: whether the proxy itself sent the command to replay the game.
    - `lines`: the response lines received so far.
    - `streaming`: whether the first line has been forwarded before the response is complete.
    """

    line: str
    call: ParsedCommand
    asked_at: float
    internal: bool = False
    lines: list[str] = field(default_factory=list)
    streaming: bool = False

    @property
    def move(self) -> str:
        """The move in the last line of a streamed response, or ""."""
        words = self.lines[-1].split() if self.lines else []
        return words[1] if len(words) == 2 and words[0] == "play" else ""


class GtpProxy:
    """The proxy for GTP. Every command from the front end gets exactly one response.

    If no clock is running, the proxy waits `timeout` seconds for a server.
    """

    def __init__(self, timeout: float) -> None:
        self.finished = False
        self.failure = ""
        self._timeout = timeout
        self._connected = False
        self._lost_at: float | None = None
        self._replay = GtpReplay()
        self._queue: deque[PendingCommand] = deque()

    def on_frontend_line(self, line: str, now: float) -> OutgoingLines:
        call = parse_line(line)
        if call is None:
            interrupts = self._connected and line.strip().lower() == INTERRUPT
            return OutgoingLines(server=(line,)) if interrupts else NOTHING
        self.finished = call.name == "quit"
        self._queue.append(PendingCommand(line, call, now))
        return OutgoingLines(server=(line,)) if self._connected else NOTHING

    def on_server_line(self, line: str, now: float) -> OutgoingLines:
        if not self._queue:
            return NOTHING
        command = self._queue[0]
        if not line and not command.lines:
            return NOTHING
        if not line:
            return self._complete(command, now)
        command.lines.append(line)
        if len(command.lines) > MAX_REPLY_LINES:
            self.failure = f"{command.call.name}: answer too long (at most {MAX_REPLY_LINES} lines)"
        if command.internal or command.call.name not in STREAMING_COMMANDS:
            return NOTHING
        if len(command.lines) == 1:
            already = command.streaming
            command.streaming = already or line.startswith("=")
            return NOTHING if already or not command.streaming else OutgoingLines(frontend=(line,))
        del command.lines[1:-1]
        return OutgoingLines(frontend=(line,)) if command.streaming else NOTHING

    def on_connected(self, now: float) -> OutgoingLines:
        self._connected, self._lost_at = True, None
        pending = self._frontend_commands()
        thinking = pending[0] if pending and pending[0].call.name in GENMOVE_COMMANDS else None
        lines = (
            self._replay.replay_commands(thinking.call, now - thinking.asked_at)
            if thinking
            else self._replay.replay_commands()
        )
        for command in pending:
            command.lines.clear()
        internal = [PendingCommand(line, _call(line), now, internal=True) for line in lines]
        self._queue = deque(internal + pending)
        return OutgoingLines(server=[command.line for command in self._queue])

    def on_disconnected(self, now: float) -> OutgoingLines:
        self._connected, self._lost_at = False, now
        self._queue = deque(self._frontend_commands())
        if self._queue and self._queue[0].streaming and self._queue[0].move:
            return self._complete(self._queue[0], now)  # Only the final empty line is missing.
        return NOTHING

    def deadline(self) -> float | None:
        if self._connected or not self._queue or self._lost_at is None:
            return None
        return min(map(self._due, self._queue))

    def on_timeout(self, now: float, reason: str) -> OutgoingLines:
        """Answer the commands that are due, and all earlier commands."""
        frontend: list[str] = []
        while not self._connected and any(self._due(command) <= now for command in self._queue):
            frontend.append(_failure_reply(self._queue.popleft(), reason))
        return OutgoingLines(frontend=frontend)

    def abort(self, now: float, reason: str) -> OutgoingLines:
        frontend = [_failure_reply(command, reason) for command in self._frontend_commands()]
        self._queue.clear()
        return OutgoingLines(frontend=frontend)

    def on_overlong_line(self) -> OutgoingLines:
        return OutgoingLines(
            frontend=(failure_response(ParsedCommand("", "", ""), "line too long"),)
        )

    def notify(self, message: str) -> OutgoingLines:
        """Send nothing, because GTP has no messages."""
        return NOTHING

    def has_pending(self) -> bool:
        return bool(self._frontend_commands())

    def stop(self) -> OutgoingLines:
        """Stop a running analysis. In GTP, any input line stops an analysis."""
        return OutgoingLines(server=("",)) if self._queue and self._connected else NOTHING

    def _frontend_commands(self) -> list[PendingCommand]:
        return [command for command in self._queue if not command.internal]

    def _complete(self, command: PendingCommand, now: float) -> OutgoingLines:
        """Forward the complete response to the first command in the queue."""
        self._queue.popleft()
        succeeded = command.lines[0].startswith("=")
        if command.internal:
            if not succeeded and not command.call.name.startswith("time_left"):
                self.failure = (
                    f"the server cannot resume the game: {command.line}: {command.lines[0]}"
                )
            return NOTHING
        if succeeded:
            first = command.lines[0].removeprefix("=").removeprefix(command.call.id).strip()
            answer = command.move if command.call.name in STREAMING_COMMANDS else first
            self._replay.record(command.call, answer, now - command.asked_at)
        if command.streaming:
            return OutgoingLines(frontend=("",))
        return OutgoingLines(frontend=("\n".join(command.lines) + "\n",))

    def _due(self, command: PendingCommand) -> float:
        """Return the time at which to answer a command if no server is connected."""
        since = max(command.asked_at, self._lost_at or command.asked_at)
        remaining = None
        if command.call.name in GENMOVE_COMMANDS:
            remaining = self._replay.remaining_time(command.call)
        by_timeout = since + self._timeout
        return (
            by_timeout
            if remaining is None
            else min(by_timeout, no_server_deadline(command.asked_at, remaining))
        )


def _call(line: str) -> ParsedCommand:
    call = parse_line(line)
    assert call is not None
    return call


def _failure_reply(command: PendingCommand, reason: str) -> str:
    """Return a failure response, or the end of the response if its first line was sent."""
    return "" if command.streaming else failure_response(command.call, reason)
