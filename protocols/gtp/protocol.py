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

from agent.player import describe
from agent.threads.task_thread import Job
from protocols.gtp.command import Command
from protocols.gtp.commands import administration, analysis, gogui, parameters, playing, rules
from protocols.gtp.commands import clocks as clock_commands
from protocols.gtp.go_board import GoBoard
from protocols.gtp.play import GtpPlay
from protocols.gtp.values import Arguments, Call, GtpError, failure, parse_line, success
from protocols.permissions import refusal

# So many lines may wait to be answered before no more are read; a long one counts as many, one for
# each part of so many characters.
MOST_WAITING = 256
PART = 1024
INTERRUPT = "# interrupt"


class Gtp(GtpPlay):
    """One GTP engine: lines in, answers out; see GtpPlay for what it is made with."""

    finished = False

    @cached_property
    def _room(self) -> threading.Semaphore:
        """Room for lines that wait; their one reader takes from it before anyone gives back."""
        return threading.Semaphore(MOST_WAITING)

    def handle_line(self, line: str) -> Iterator[str]:
        """Take one line; its answer is sent later. Waits while very many lines are unanswered."""
        for job in self._player.asked():
            job.overtaken.set()
            if line.strip().lower() == INTERRUPT:
                job.stop.set()
        self._source.start()
        call = parse_line(line)
        if call is not None:
            self.finished = call.name == "quit"
            places = min(1 + len(line) // PART, MOST_WAITING)
            for _ in range(places):
                self._room.acquire()
            # What waits is the line: its words take many times as much memory.
            self._player.do(lambda job: self._answer(job, line, places), lengthy=True)
        yield from ()

    def overlong_line(self) -> Iterator[str]:
        """Say that a line was dropped."""
        yield failure(Call("", "", ()), "the line is too long")

    def drain(self, timeout: float | None = None) -> bool:
        """After the last line: end an analysis, and wait until all lines are answered."""
        for job in self._player.asked():
            job.overtaken.set()
        return self._player.wait(timeout)

    def close(self, timeout: float) -> bool:
        """Stop everything; return whether all threads ended within about `timeout` seconds."""
        deadline = time.monotonic() + timeout
        self.closing = True
        ended = self._player.close(timeout)
        if ended:
            self._source.keep()
            self.keep()
            self.give_memory_back()
        return self._source.close(max(deadline - time.monotonic(), 0.0)) and ended

    def _answer(self, job: Job, line: str, places: int) -> None:
        """Answer one line, whatever happens; then ponder, where that is wanted.

        places: what it has taken of the room for lines that wait.
        """
        call = parse_line(line)
        assert call is not None
        self.call, self._job, self._moved = call, job, False
        try:
            text = self._act(call)
            answer = None if text is None else success(call, text)
        except GtpError as error:
            answer = failure(call, str(error))
        # Whatever a line does, the next is read; the code of a game may even exit.
        except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001
            answer = failure(call, describe(error))
        try:
            if answer is not None:
                self.send(answer)
        finally:
            self._room.release(places)
        self.learn()
        try:
            self.opponent.look(self.board.game)
        except Exception as error:  # noqa: BLE001 - the command has been answered
            self.report(describe(error))
        if self._moved and self.settings.ponders:
            self._ponder()

    def _act(self, call: Call) -> str | None:
        command = COMMANDS.get(call.name)
        if command is None or (command.go and not isinstance(self.board, GoBoard)):
            raise GtpError("unknown command")
        arguments = Arguments(call.arguments)
        if command.trusted and not (self.permissions.trusted or (command.bare and not arguments)):
            raise GtpError(refusal(f"{call.name} FILE" if command.bare else call.name))
        text = command.act(self, arguments)
        arguments.end()
        return text

    def known(self) -> list[str]:
        """Return the names of the commands that the game has, and this session may give."""
        go, trusted = isinstance(self.board, GoBoard), self.permissions.trusted
        return [
            name
            for name, command in COMMANDS.items()
            if (go or not command.go) and (trusted or command.bare or not command.trusted)
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
