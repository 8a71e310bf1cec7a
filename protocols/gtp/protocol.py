"""The GTP engine, without I/O. Its commands are in the table COMMANDS.

Input lines are queued for the agent's thread, so that any input can stop an analysis. Source:
'Specification of the Go Text Protocol, version 2, draft 2' by Gunnar Farnebäck.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial

from agent.agent import describe
from agent.threads.serial_executor import Job
from protocols.current_line import others_may_run
from protocols.gtp.command import Command
from protocols.gtp.commands import (
    administration,
    analysis,
    gogui,
    parameters,
    playing,
    queries,
    rules,
    tactics,
)
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
from protocols.gtp.session import DEFAULT_SETTINGS, GtpSession, Settings
from protocols.permissions import permission_denied_message
from protocols.session_context import STANDALONE, SessionContext

# Reading pauses while this many slots are taken. A long line takes one slot per
# CHARACTERS_PER_SLOT.
MAX_PENDING = 256
CHARACTERS_PER_SLOT = 1024
INTERRUPT = "# interrupt"


class GtpProtocol:
    """A GTP engine. The arguments are those of `GtpSession`."""

    def __init__(
        self,
        name: str,
        version: str,
        send: Callable[[str], None],
        report: Callable[[str], None],
        settings: Settings = DEFAULT_SETTINGS,
        session_context: SessionContext = STANDALONE,
    ) -> None:
        self.finished = False
        self.session = GtpSession(
            name, version, send, report, settings, session_context, self.known_commands
        )
        self._session_lines = session_context.session_lines
        self._queue_slots = threading.Semaphore(MAX_PENDING)

    def handle_line(self, line: str) -> Iterator[str]:
        """Queue one line, and block while the queue is full. The response is sent later."""
        agent = self.session.agent
        for job in agent.pending():
            job.superseded.set()
            if line.strip().lower() == INTERRUPT:
                job.stop.set()
        self.session.backend.start()
        call = parse_line(line)
        if call is not None:
            self.finished = call.name == "quit"
            slots = min(1 + len(line) // CHARACTERS_PER_SLOT, MAX_PENDING)
            with others_may_run():
                for _ in range(slots):
                    self._queue_slots.acquire()
            agent.submit(partial(self._answer, call, slots), long_running=True)
        yield from ()

    def handle_overlong_line(self) -> Iterator[str]:
        yield failure_response(ParsedCommand("", "", ""), "line too long")

    def drain(self, timeout: float | None = None) -> bool:
        """Stop an analysis and wait for queued lines. Return whether all were handled in time."""
        for job in self.session.agent.pending():
            job.superseded.set()
        return self.session.agent.wait(timeout)

    def close(self, timeout: float) -> bool:
        ended = self.session.close(timeout)
        self._queue_slots.release(MAX_PENDING)  # for a thread that waits in `handle_line`
        return ended

    def _answer(self, call: ParsedCommand, slots: int, job: Job) -> None:
        session, lines = self.session, self._session_lines
        with nullcontext(True) if lines is None else lines.turn(len(call.text)) as admitted:
            try:
                if not admitted:
                    return
                session.begin_command(call, job)
                try:
                    arguments = Arguments(call.arguments)
                    text = self._find_command(call).handler(session, arguments)
                    arguments.expect_end()
                    answer = None if text is None else success_response(call, text)
                except GtpError as error:
                    answer = failure_response(call, str(error))
                # The session must continue, even if the code of a user's game exits.
                except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001
                    answer = failure_response(call, describe(error))
                if answer is not None:
                    session.send(answer)
            finally:
                self._queue_slots.release(slots)
            session.end_command()

    def _find_command(self, call: ParsedCommand) -> Command:
        command, session = COMMANDS.get(call.name), self.session
        if command is None or not command.is_offered(isinstance(session.board, GtpGoBoard)):
            raise GtpError("unknown command")
        if not command.is_permitted(session.permissions.trusted, bool(call.text)):
            suffix = " FILE" if command.trust_free_without_arguments else ""
            raise GtpError(permission_denied_message(call.name + suffix))
        return command

    def known_commands(self) -> list[str]:
        """Return the names of the commands that this session offers for its game."""
        is_go = isinstance(self.session.board, GtpGoBoard)
        trusted = self.session.permissions.trusted
        return [
            name
            for name, command in COMMANDS.items()
            if command.is_offered(is_go) and command.is_permitted(trusted, has_arguments=False)
        ]


COMMANDS: dict[str, Command] = {
    **administration.COMMANDS,
    **playing.COMMANDS,
    **queries.COMMANDS,
    **clock_commands.COMMANDS,
    **rules.COMMANDS,
    **parameters.COMMANDS,
    **tactics.COMMANDS,
    **gogui.COMMANDS,
    **analysis.COMMANDS,
}
