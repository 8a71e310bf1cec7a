"""The GTP engine, without input and output: lines in, lines out, a player in between.

Begin reading at COMMANDS, at the end: the table, put together of one for each subject in
protocols.gtp.commands, serves dispatch and listing. The reader of lines only queues them; the
player answers them in order, so that input can end an analysis.
Source: 'Specification of the Go Text Protocol, version 2, draft 2' by Gunnar Farnebäck; each
subject names those of its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from functools import cached_property

from agent.agent import describe
from agent.threads.serial_executor import Job
from protocols.gtp.command import Command
from protocols.gtp.commands import administration, analysis, gogui, parameters, playing, rules
from protocols.gtp.commands import clocks as clock_commands
from protocols.gtp.go_board import GtpGoBoard
from protocols.gtp.messages import (
    Arguments,
    GtpError,
    ParsedCommand,
    failure_response,
    parse_line,
    success_response,
)
from protocols.gtp.session import GtpSession
from protocols.permissions import permission_denied_message

# So many lines may wait to be answered before no more are read; a long one counts as many, one for
# each part of so many characters.
MAX_PENDING = 256
CHARACTERS_PER_SLOT = 1024
INTERRUPT = "# interrupt"


class GtpProtocol(GtpSession):
    """One GTP engine: lines in, answers out; see GtpSession for what it is made with."""

    finished = False

    @cached_property
    def _queue_slots(self) -> threading.Semaphore:
        """Room for lines that wait; their one reader takes from it before anyone gives back."""
        return threading.Semaphore(MAX_PENDING)

    def handle_line(self, line: str) -> Iterator[str]:
        """Take one line; its answer is sent later. Waits while very many lines are unanswered."""
        for job in self._agent.pending():
            job.superseded.set()
            if line.strip().lower() == INTERRUPT:
                job.stop.set()
        self._backend.start()
        call = parse_line(line)
        if call is not None:
            self.finished = call.name == "quit"
            slots = min(1 + len(line) // CHARACTERS_PER_SLOT, MAX_PENDING)
            for _ in range(slots):
                self._queue_slots.acquire()
            # What waits is the line: its words take many times as much memory.
            self._agent.submit(lambda job: self._answer(job, line, slots), long_running=True)
        yield from ()

    def handle_overlong_line(self) -> Iterator[str]:
        """Say that a line was dropped."""
        yield failure_response(ParsedCommand("", "", ()), "the line is too long")

    def drain(self, timeout: float | None = None) -> bool:
        """After the last line: end an analysis, and wait until all lines are answered."""
        for job in self._agent.pending():
            job.superseded.set()
        return self._agent.wait(timeout)

    def close(self, timeout: float) -> bool:
        """Stop everything; return whether all threads ended within about `timeout` seconds."""
        deadline = time.monotonic() + timeout
        self.closing = True
        ended = self._agent.close(timeout)
        if ended:
            self._backend.save()
            self.save_learning()
            self.release_memory()
        return self._backend.close(max(deadline - time.monotonic(), 0.0)) and ended

    def _answer(self, job: Job, line: str, slots: int) -> None:
        """Answer one line, whatever happens; then ponder, where that is wanted.

        places: what it has taken of the room for lines that wait.
        """
        call = parse_line(line)
        assert call is not None
        self.call, self._job, self._has_moved = call, job, False
        try:
            text = self._execute(call)
            answer = None if text is None else success_response(call, text)
        except GtpError as error:
            answer = failure_response(call, str(error))
        # Whatever a line does, the next is read; the code of a game may even exit.
        except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001
            answer = failure_response(call, describe(error))
        try:
            if answer is not None:
                self.send(answer)
        finally:
            self._queue_slots.release(slots)
        self.learn()
        try:
            self.opponent.record_if_over(self.board.game)
        except Exception as error:  # noqa: BLE001 - the command has been answered
            self.report(describe(error))
        if self._has_moved and self.settings.ponders:
            self._ponder()

    def _execute(self, call: ParsedCommand) -> str | None:
        command = COMMANDS.get(call.name)
        if command is None or (command.go_only and not isinstance(self.board, GtpGoBoard)):
            raise GtpError("unknown command")
        arguments = Arguments(call.arguments)
        if command.requires_trust and not (
            self.permissions.trusted or (command.trust_free_without_arguments and not arguments)
        ):
            raise GtpError(
                permission_denied_message(
                    f"{call.name} FILE" if command.trust_free_without_arguments else call.name
                )
            )
        text = command.handler(self, arguments)
        arguments.expect_end()
        return text

    def known_commands(self) -> list[str]:
        """Return the names of the commands that the game has, and this session may give."""
        go, trusted = isinstance(self.board, GtpGoBoard), self.permissions.trusted
        return [
            name
            for name, command in COMMANDS.items()
            if (go or not command.go_only)
            and (trusted or command.trust_free_without_arguments or not command.requires_trust)
        ]


COMMANDS: dict[str, Command] = {
    **administration.COMMANDS,
    **playing.COMMANDS,
    **clock_commands.COMMANDS,
    **rules.COMMANDS,
    **parameters.COMMANDS,
    **gogui.COMMANDS,
    **analysis.COMMANDS,
}
