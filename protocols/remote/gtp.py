"""The GTP proxy, which stores the game and the unanswered commands."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import inf

from protocols.gtp.messages import ParsedCommand, failure_response, parse_line
from protocols.remote.gtp_replay import GENMOVE_COMMANDS, GtpReplay, mover
from protocols.remote.proxy import NOTHING, OutgoingLines, Proxy

# Responses to these commands take long, so they are forwarded line by line.
STREAMING_COMMANDS = (
    *("lz-analyze", "kata-analyze", "cgos-analyze", "kata-problem_analyze"),
    *("kata-search_analyze", "kata-search_analyze_cancellable"),
    *GENMOVE_COMMANDS[2:],
)
# Maximum size of a response, which is kept until it is complete.
MAX_REPLY_LINES, MAX_REPLY_LENGTH = 10_000, 1 << 24
INTERRUPT = "# interrupt"


@dataclass
class PendingCommand:
    """An unanswered command, received at the monotonic time `asked_at` in seconds.

    - `streaming`: whether the first line has been forwarded before the response is complete.
    """

    line: str
    call: ParsedCommand
    asked_at: float
    streaming: bool = False


class GtpProxy(Proxy[PendingCommand]):
    """The proxy for GTP. Every command from the front end gets exactly one response."""

    STOP_LINE = ""  # In GTP, any input line stops an analysis.
    OVERLONG_REPLY = failure_response(ParsedCommand("", "", ""), "line too long")

    def __init__(self, timeout: float) -> None:
        super().__init__(timeout)
        self._game = GtpReplay()
        # The proxy's own unanswered commands, which are answered before all others.
        self._replayed: deque[str] = deque()
        # The lines of the current response: all of them, or the first and the last if streaming.
        self._reply: list[str] = []
        self._reply_length = 0  # in characters

    def on_frontend_line(self, line: str, now: float) -> OutgoingLines:
        call = parse_line(line)
        if call is not None:
            self.finished = call.name == "quit"
            self._pending.append(PendingCommand(line, call, now))
        forwarded = call is not None or line.strip().lower() == INTERRUPT
        return OutgoingLines(server=(line,)) if self._connected and forwarded else NOTHING

    def on_server_line(self, line: str, now: float) -> OutgoingLines:
        if not (line or self._reply) or not (self._replayed or self._pending):
            return NOTHING
        if not line:
            return self._complete(now)
        self._reply.append(line)
        name = self._replayed[0].split()[0] if self._replayed else self._pending[0].call.name
        if self._replayed or name not in STREAMING_COMMANDS:
            self._reply_length += len(line)
            if len(self._reply) > MAX_REPLY_LINES or self._reply_length > MAX_REPLY_LENGTH:
                self.failure = (
                    f"{name}: answer too long (at most {MAX_REPLY_LINES} lines and "
                    f"{MAX_REPLY_LENGTH} characters)"
                )
            return NOTHING
        command, first = self._pending[0], len(self._reply) == 1
        repeated = first and command.streaming
        command.streaming = command.streaming or (first and line.startswith("="))
        del self._reply[1:-1]
        return OutgoingLines(frontend=(line,)) if command.streaming and not repeated else NOTHING

    def on_disconnected(self, now: float) -> OutgoingLines:
        super().on_disconnected(now)
        if self._streamed_move():
            return self._complete(now)  # Only the final empty line is missing.
        self._replayed.clear()
        self._clear_reply()
        return NOTHING

    def _replay(self, now: float) -> list[str]:
        elapsed = {mover(command.call): now - command.asked_at for command in self._pending[:1]}
        self._replayed.extend(self._game.replay_commands(elapsed))
        return [*self._replayed, *(command.line for command in self._pending)]

    def _streamed_move(self) -> str:
        """Return the move in the last line of a streamed response, or ""."""
        streaming = not self._replayed and self._pending and self._pending[0].streaming
        words = self._reply[-1].split() if streaming and self._reply else []
        return words[1] if len(words) == 2 and words[0] == "play" else ""

    def _complete(self, now: float) -> OutgoingLines:
        """Handle the end of the response to the first unanswered command."""
        move, (first, *_), text = self._streamed_move(), self._reply, "\n".join(self._reply)
        self._clear_reply()
        if self._replayed:
            line = self._replayed.popleft()
            if not first.startswith("=") and not line.startswith("time_left"):
                self.failure = f"the server cannot resume the game: {line}: {first}"
            return NOTHING
        command = self._pending.pop(0)
        if first.startswith("="):
            answer = first.removeprefix("=").removeprefix(command.call.id).strip()
            if command.call.name in STREAMING_COMMANDS:
                answer = move
            self._game.record(command.call, answer, now - command.asked_at)
        return OutgoingLines(frontend=("" if command.streaming else f"{text}\n",))

    def _clear_reply(self) -> None:
        self._reply.clear()
        self._reply_length = 0

    def _due(self, command: PendingCommand) -> float:
        if self._connected:
            return inf
        return min(
            max(command.asked_at, self._lost_at) + self._timeout,
            self._clock_due(command.asked_at, self._game.remaining_time(command.call)),
        )

    def _answer(self, command: PendingCommand, reason: str) -> list[str]:
        """Return a failure response, or the end of the response if its first line was sent."""
        return ["" if command.streaming else failure_response(command.call, reason)]
