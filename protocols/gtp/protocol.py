"""The GTP engine, without I/O. Its commands are in the table COMMANDS.

Input lines are queued for the agent's thread, so that any input can stop an analysis. Source:
'Specification of the Go Text Protocol, version 2, draft 2' by Gunnar Farnebäck.
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

# Reading pauses while this many slots are taken. A long line takes one slot per
# CHARACTERS_PER_SLOT.
MAX_PENDING = 256
CHARACTERS_PER_SLOT = 1024
INTERRUPT = "# interrupt"


class GtpProtocol(GtpSession):
    """A GTP engine. The arguments are those of `GtpSession`."""

    finished = False

    @cached_property
    def _queue_slots(self) -> threading.Semaphore:
        return threading.Semaphore(MAX_PENDING)

    def handle_line(self, line: str) -> Iterator[str]:
        """Queue one line, and block while the queue is full. The response is sent later."""
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
            # The queue holds the unparsed line, since a list of its words takes much more memory.
            self._agent.submit(lambda job: self._answer(job, line, slots), long_running=True)
        yield from ()

    def handle_overlong_line(self) -> Iterator[str]:
        yield failure_response(ParsedCommand("", "", ()), "line too long")

    def drain(self, timeout: float | None = None) -> bool:
        """Stop an analysis and wait for queued lines. Return whether all were handled in time."""
        for job in self._agent.pending():
            job.superseded.set()
        return self._agent.wait(timeout)

    def close(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        self.closing = True
        ended = self._agent.close(timeout)
        if ended:
            self._backend.save()
            self.save_learning()
            self.release_memory()
        return self._backend.close(max(deadline - time.monotonic(), 0.0)) and ended

    def _answer(self, job: Job, line: str, slots: int) -> None:
        call = parse_line(line)
        assert call is not None
        self.current_command, self._job, self._has_moved = call, job, False
        try:
            text = self._execute(call)
            answer = None if text is None else success_response(call, text)
        except GtpError as error:
            answer = failure_response(call, str(error))
        # The session must continue, even if the code of a user's game exits.
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
