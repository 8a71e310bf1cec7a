"""A dialogue in GTP: the game, and the commands that are not answered yet.

Each command is answered once. Ours, which tell a server of the game, stand in the same queue.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from protocols.gtp.values import Call, failure, parse_line
from protocols.remote.dialogue import NOTHING, Traffic, answer_by
from protocols.remote.gtp_game import GENERATES, GtpGame

# Their answers are passed on line by line, for they last.
ALOUD = ("lz-analyze", "kata-analyze", "cgos-analyze", *GENERATES[2:])
# Of one answer.
MOST_LINES = 10_000
INTERRUPT = "# interrupt"


@dataclass
class AskedCommand:
    """A command without an answer. Times are seconds of the monotonic clock.

    ours: of no front end. lines: of its answer, so far. begun: of an answer that is passed on line
    by line, that its first line has been.
    """

    line: str
    call: Call
    asked: float
    ours: bool = False
    lines: list[str] = field(default_factory=list)
    begun: bool = False

    @property
    def move(self) -> str:
        """The move that an answer line by line ends with, or ""."""
        words = self.lines[-1].split() if self.lines else []
        return words[1] if len(words) == 2 and words[0] == "play" else ""


class GtpDialogue:
    """One front end's, in GTP. patience: seconds to wait for a server where no clock runs."""

    def __init__(self, patience: float) -> None:
        self.finished = False
        self.failed = ""
        self._patience = patience
        self._up = False
        self._lost: float | None = None
        self._game = GtpGame()
        self._queue: deque[AskedCommand] = deque()

    def asked(self, line: str, now: float) -> Traffic:
        """Take a line of the front end."""
        call = parse_line(line)
        if call is None:
            interrupts = self._up and line.strip().lower() == INTERRUPT
            return Traffic(server=(line,)) if interrupts else NOTHING
        self.finished = call.name == "quit"
        self._queue.append(AskedCommand(line, call, now))
        return Traffic(server=(line,)) if self._up else NOTHING

    def told(self, line: str, now: float) -> Traffic:
        """Take a line of the server."""
        if not self._queue:
            return NOTHING
        command = self._queue[0]
        if not line and not command.lines:
            return NOTHING
        if not line:
            return self._end(command, now)
        command.lines.append(line)
        if len(command.lines) > MOST_LINES:
            self.failed = f"the server's answer to {command.call.name} does not end"
        if command.ours or command.call.name not in ALOUD:
            return NOTHING
        if len(command.lines) == 1:
            again, command.begun = command.begun, command.begun or line.startswith("=")
            return NOTHING if again or not command.begun else Traffic(front=(line,))
        del command.lines[1:-1]
        return Traffic(front=(line,)) if command.begun else NOTHING

    def resume(self, now: float) -> Traffic:
        """Begin with a server that knows nothing, the first or a later one."""
        self._up, self._lost = True, None
        asked = self._theirs()
        thinking = asked[0] if asked and asked[0].call.name in GENERATES else None
        lines = (
            self._game.lines(thinking.call, now - thinking.asked)
            if thinking
            else self._game.lines()
        )
        for command in asked:
            command.lines.clear()
        ours = [AskedCommand(line, _call(line), now, ours=True) for line in lines]
        self._queue = deque(ours + asked)
        return Traffic(server=[command.line for command in self._queue])

    def lost(self, now: float) -> Traffic:
        """Take note that there is no server now."""
        self._up, self._lost = False, now
        self._queue = deque(self._theirs())
        if self._queue and self._queue[0].begun and self._queue[0].move:
            return self._end(self._queue[0], now)  # all but the empty line has come
        return NOTHING

    def due(self) -> float | None:
        """Return when something must be answered, server or not; None if nothing must."""
        if self._up or not self._queue or self._lost is None:
            return None
        return min(map(self._due, self._queue))

    def overdue(self, now: float, reason: str) -> Traffic:
        """Answer what is due, and all that was asked before it."""
        front: list[str] = []
        while not self._up and any(self._due(command) <= now for command in self._queue):
            front.append(_give_up(self._queue.popleft(), reason))
        return Traffic(front=front)

    def give_up(self, now: float, reason: str) -> Traffic:
        """Answer all that has not been answered."""
        front = [_give_up(command, reason) for command in self._theirs()]
        self._queue.clear()
        return Traffic(front=front)

    def overlong(self) -> Traffic:
        """Answer a line that was dropped."""
        return Traffic(front=(failure(Call("", "", ()), "the line is too long"),))

    def tell(self, message: str) -> Traffic:
        """Tell the front end nothing: GTP has no way to."""
        return NOTHING

    def asking(self) -> bool:
        """Tell whether something that will be answered has not been."""
        return bool(self._theirs())

    def stop(self) -> Traffic:
        """End what would not end by itself: any line ends an analysis."""
        return Traffic(server=("",)) if self._queue and self._up else NOTHING

    def _theirs(self) -> list[AskedCommand]:
        return [command for command in self._queue if not command.ours]

    def _end(self, command: AskedCommand, now: float) -> Traffic:
        """Take note that the answer to the first command is whole."""
        self._queue.popleft()
        succeeded = command.lines[0].startswith("=")
        if command.ours:
            if not succeeded and not command.call.name.startswith("time_left"):
                self.failed = (
                    f"the server cannot go on with the game: {command.line}: {command.lines[0]}"
                )
            return NOTHING
        if succeeded:
            first = command.lines[0].removeprefix("=").removeprefix(command.call.id).strip()
            answer = command.move if command.call.name in ALOUD else first
            self._game.note(command.call, answer, now - command.asked)
        if command.begun:
            return Traffic(front=("",))
        return Traffic(front=("\n".join(command.lines) + "\n",))

    def _due(self, command: AskedCommand) -> float:
        """Return when to answer a command that no server has answered."""
        since = max(command.asked, self._lost or command.asked)
        left = None
        if command.call.name in GENERATES:
            left = self._game.seconds(command.call)
        by_patience = since + self._patience
        return by_patience if left is None else min(by_patience, answer_by(command.asked, left))


def _call(line: str) -> Call:
    call = parse_line(line)
    assert call is not None
    return call


def _give_up(command: AskedCommand, reason: str) -> str:
    """Return the answer of no server; of an analysis that has begun, its end."""
    return "" if command.begun else failure(command.call, reason)
