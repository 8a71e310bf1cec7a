"""One engine's process: lines in and out, and an end that leaves nothing behind.

Reading is bounded in memory whatever the engine prints: over-long lines are dropped, bytes that
are not UTF-8 replaced, and little is read ahead of what is asked for, so that an engine that
floods its output waits for us and not we for it. What is read is plain text: whoever shows an
engine's words need not fear them.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from agent.io.sanitize import sanitize_line
from protocols.client.job_object import JobObject
from protocols.client.pipe_reader import CHUNK_SIZE, PipeReader

MAX_LINE_LENGTH = 64 * 1024
STDERR_TAIL = 2000
QUIT_LIMIT = 5.0
# Characters of what an engine says of its failure.
MAX_MESSAGE_LENGTH = 200


class EngineError(Exception):
    """An engine that did not do its part; the message says what it did."""


class EngineNotFoundError(EngineError):
    """A command that names no program that could be started."""


class EngineDiedError(EngineError):
    """The process ended, or closed its output."""


class IoLog:
    """A text file of what is said to an engine (>), what it answers (<), and its stderr (!)."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, process: int, direction: str, text: str) -> None:
        """Add one line, with the time of the machine in seconds and the process it concerns."""
        self._file.write(f"{time.time():.6f} [{process}] {direction} {text}\n")
        self._file.flush()


def find_program(command: str, directory: str | None = None) -> str:
    """Return the path of the program that `command` names, or raise EngineNotFoundError.

    A command with a path separator is looked for from `directory`, then from here; a bare name
    along PATH.
    """
    if directory is not None and not Path(directory).is_dir():
        raise EngineNotFoundError(f"directory {directory} does not exist")
    if os.sep in command or (os.altsep and os.altsep in command):
        places = [Path(directory or "."), Path()]
        candidates = [str((place / os.path.expanduser(command)).absolute()) for place in places]
    else:
        candidates = [command]
    for candidate in candidates:
        found = shutil.which(candidate)
        if found:
            return str(Path(found).absolute())
    raise EngineNotFoundError(f"engine command {command!r} names no program that can be run")


def supervised_command(line: Sequence[str]) -> list[str]:
    """Return the command line that runs a program so that nothing of it outlives this process.

    To end the program is to send SIGTERM. Where the system has no means for it, the line is
    returned as it is.
    """
    if sys.platform != "linux":
        return list(line)
    supervisor = str(Path(__file__).with_name("supervisor.py"))
    return [sys.executable, "-I", "-S", supervisor, str(os.getpid()), *line]


def creation_flags() -> int:
    """Return the flags that an engine is started with on Windows, 0 elsewhere.

    Ctrl-C, Ctrl-Break and the end of our console are for us to handle: it has none of its own.
    """
    if sys.platform == "win32":
        return subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
    return 0


class EngineProcess:
    """A started program. Every method may be called at any time; after the end they say so."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        output: int,
        log: IoLog | None,
        job: JobObject | None = None,
    ) -> None:
        self.arrived = 0.0
        self._process = process
        self._job = job
        self._output = PipeReader(output)
        self._log = log
        self._lines: deque[str] = deque()
        self._partial = bytearray()
        self._skipping = False
        self._stderr = bytearray()
        self._stderr_reader = asyncio.create_task(self._read_stderr())

    @classmethod
    async def start(
        cls,
        command: str,
        arguments: Sequence[str] = (),
        *,
        directory: str | None = None,
        environment: Mapping[str, str] | None = None,
        log: IoLog | None = None,
    ) -> "EngineProcess":
        """Start a program in a session of its own, tied to this process's life."""
        line = [find_program(command, directory), *arguments]
        options: dict[str, Any] = {"creationflags": creation_flags()}
        if sys.platform != "win32":
            options["start_new_session"] = True
        output, theirs = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *supervised_command(line),
                stdin=subprocess.PIPE,
                stdout=theirs,
                stderr=subprocess.PIPE,
                cwd=directory,
                env={**os.environ, **(environment or {})},
                limit=CHUNK_SIZE,
                **options,
            )
        except BaseException as error:
            os.close(output)
            if isinstance(error, OSError):
                raise EngineNotFoundError(f"engine command {command!r}: {error}") from error
            raise
        finally:
            os.close(theirs)
        return cls(process, output, log, JobObject.of(process.pid))

    @property
    def pid(self) -> int:
        """The process: on Linux its supervisor, on other POSIX systems also its group."""
        return self._process.pid

    def send(self, text: str) -> None:
        """Write lines without waiting; to a dead process this does nothing."""
        if self._log:
            for line in text.splitlines():
                self._log.write(self.pid, ">", line)
        assert self._process.stdin is not None
        if not self._process.stdin.is_closing():
            with contextlib.suppress(OSError):
                self._process.stdin.write(text.encode() + b"\n")

    async def read_line(self) -> str:
        """Return the next line of output, stripped; raise EngineDiedError at its end.

        `arrived` is the time at which the line came, by `time.perf_counter`.
        """
        while not self._lines:
            chunk, self.arrived = await self._output.read_chunk()
            if not chunk:
                raise EngineDiedError("the engine closed its output")
            self._split_lines(chunk)
        line = self._lines.popleft()
        if self._log:
            self._log.write(self.pid, "<", line)
        return line

    async def stop(self, limit: float = QUIT_LIMIT) -> None:
        """Say quit and close the input; kill what is left after `limit` seconds."""
        self.send("quit")
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(limit):
                await self._drain()
        except TimeoutError:
            pass
        finally:
            await asyncio.shield(self._reap())

    async def kill(self) -> None:
        """End the process, and all that it started, at once."""
        await asyncio.shield(self._reap())

    def _split_lines(self, chunk: bytes) -> None:
        *complete, rest = chunk.split(b"\n")
        for piece in complete:
            if self._skipping:
                self._skipping = False
            else:
                self._lines.append(_text(self._partial + piece))
            self._partial.clear()
        if not self._skipping:
            self._partial += rest
        if len(self._partial) > MAX_LINE_LENGTH:
            self._partial.clear()
            self._skipping = True

    async def _drain(self) -> None:
        while (await self._output.read_chunk())[0]:
            pass
        await self._process.wait()

    async def _reap(self) -> None:
        self._terminate()
        self._stderr_reader.cancel()
        # A process that got away may hold the pipes open: the wait has a limit too.
        with contextlib.suppress(TimeoutError, asyncio.CancelledError):
            async with asyncio.timeout(QUIT_LIMIT):
                await asyncio.gather(
                    self._drain(),
                    self._stderr_reader,
                    self._process.wait(),
                    return_exceptions=True,
                )
        transport = getattr(self._process, "_transport", None)
        if transport is not None:
            transport.close()  # which kills what has not ended
        if self._job is not None:
            self._job.close()
        self._output.close()

    def _terminate(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "linux":
                self._process.terminate()
            elif sys.platform == "win32":
                if self._job is not None:
                    self._job.end()
                self._process.kill()
            else:
                os.killpg(self.pid, signal.SIGKILL)

    async def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(CHUNK_SIZE):
            self._stderr += chunk
            del self._stderr[:-STDERR_TAIL]
            if self._log:
                for line in chunk.splitlines():
                    self._log.write(self.pid, "!", _text(line))

    async def describe_end(self) -> str:
        """Return how a process whose output has ended came to its end."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await self._process.wait()
                await asyncio.wait([self._stderr_reader], timeout=0.2)
        return describe_exit(self._process.returncode, self._stderr)


def describe_exit(code: int | None, stderr: bytes | bytearray) -> str:
    """Say how a process whose output has ended came to its end, and what it complained of last.

    code: as `subprocess` tells it; None while the process runs.
    """
    if code is None:
        reason = "closed its output"
    elif code < 0:
        reason = f"was killed by signal {-code}"
    else:
        reason = f"ended with status {code}"
    words = bytes(stderr).strip().splitlines()
    return f"{reason}: {sanitize_line(_text(words[-1]), MAX_MESSAGE_LENGTH)}" if words else reason


def _text(line: bytes | bytearray) -> str:
    return sanitize_line(line.decode("utf-8", "replace"), MAX_LINE_LENGTH)
