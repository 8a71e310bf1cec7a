"""The command line in the process of the tests, which saves the start of another process.

Tests of signals, pipes, imports and cold caches start a process instead.
"""

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from subprocess import CompletedProcess
from unittest import mock

from kempelen import cli
from protocols import stdio
from protocols.session import StdioSession


def run(*arguments: object, text: str | None = None) -> CompletedProcess[str]:
    """Run `kempelen` with these arguments; return its exit status and output.

    text: the standard input of a session.
    """
    words = [str(argument) for argument in arguments]
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(output))
        stack.enter_context(contextlib.redirect_stderr(errors))
        said = None if text is None else stack.enter_context(_session_of(text))
        try:
            status = cli.main(words)
        except SystemExit as stop:  # of the parser of arguments
            status = stop.code if isinstance(stop.code, int) else 1
        if said is not None:
            said.seek(0)
            output.write(said.read().decode())
    return CompletedProcess(words, status, output.getvalue(), errors.getvalue())


@contextlib.contextmanager
def _session_of(text: str) -> Iterator[io.BufferedRandom]:
    """Make a session read the text and write to the file that is yielded."""
    with tempfile.TemporaryFile() as heard, tempfile.TemporaryFile() as said:
        heard.write(text.encode())
        heard.seek(0)
        interval = sys.getswitchinterval()
        session = StdioSession(heard.fileno(), said.fileno())
        with (
            mock.patch.object(StdioSession, "from_stdio", return_value=session),
            mock.patch.object(
                stdio, "SHUTDOWN_TIMEOUT", 60.0
            ),  # to give up would end the tests' process
            mock.patch.object(os, "_exit", _give_up),
        ):
            try:
                yield said
            finally:
                sys.setswitchinterval(interval)


def _give_up(status: int) -> None:
    raise TimeoutError("threads of the session do not end")
