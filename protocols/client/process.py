"""Run an engine process, exchange lines with it, and kill its child processes at the end.

Overlong lines are dropped. Invalid UTF-8 is replaced and control characters are removed.
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
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from agent.io.message import Message, MessageError
from agent.io.sanitize import sanitize_line
from protocols.client.job_object import JobObject
from protocols.client.pipe_reader import CHUNK_SIZE, PipeReader

MAX_LINE_LENGTH = 64 * 1024
STDERR_TAIL = 2000
QUIT_LIMIT = 5.0
MAX_MESSAGE_LENGTH = 200  # maximum length of an engine's error message


class EngineError(MessageError):
    """Raised when an engine fails. The message gives the reason."""


class EngineNotFoundError(EngineError):
    """Raised when a program does not exist or cannot be started."""


class EngineDiedError(EngineError):
    """Raised when an engine process ends or closes its output."""


class IoLog:
    """A log file for an engine's input (`>`), output (`<`) and standard error (`!`)."""

    def __init__(self, file: TextIO, report: Callable[[str], None] = lambda text: None) -> None:
        """`report` is called with the first write error, for example of a full disk."""
        self._file = file
        self._report = report
        self._failed = False

    def write(self, process: int, direction: str, text: str) -> None:
        """Write one line with the Unix time in seconds and the process id. Ignore write errors."""
        try:
            self._file.write(f"{time.time():.6f} [{process}] {direction} {text}\n")
            self._file.flush()
        except OSError as error:
            if not self._failed:
                self._failed = True
                self._report(f"log {self._file.name}: {error.strerror}; lines are missing")

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._file.close()


def find_program(command: str, directory: str | None = None) -> str:
    """Return the absolute path of a program, or raise `EngineNotFoundError`.

    A command with a path separator is relative to `directory` or to the current directory. Other
    commands are searched for in PATH.
    """
    if directory is not None and not Path(directory).is_dir():
        raise EngineNotFoundError(f"directory {directory} does not exist")
    if os.sep in command or (os.altsep and os.altsep in command):
        bases = [Path(directory or "."), Path()]
        candidates = [str((base / os.path.expanduser(command)).absolute()) for base in bases]
    else:
        candidates = [command]
    for candidate in candidates:
        path = shutil.which(candidate)
        if path:
            return str(Path(path).absolute())
    raise EngineNotFoundError("engine command {!r}: program not found or not executable", command)


def supervised_command(line: Sequence[str], cpus: Sequence[int] = ()) -> list[str]:
    """Return a command that runs `line` under `supervisor.py`, or just `line` outside Linux.

    `cpus` are the CPUs that the program may use, by default all.
    """
    if sys.platform != "linux":
        return list(line)
    supervisor = str(Path(__file__).with_name("supervisor.py"))
    allowed = ",".join(map(str, cpus))
    return [sys.executable, "-I", "-S", supervisor, str(os.getpid()), allowed, *line]


def creation_flags() -> int:
    """Return Windows process flags that shield an engine from Ctrl-C, or 0 on other systems."""
    if sys.platform == "win32":
        return subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
    return 0


class EngineProcess:
    """A running engine program. All methods may also be called after the program has ended."""

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
        cpus: Sequence[int] = (),
    ) -> "EngineProcess":
        """Start a program that is killed when this process ends, or raise `EngineNotFoundError`."""
        line = [find_program(command, directory), *arguments]
        options: dict[str, Any] = {"creationflags": creation_flags()}
        if sys.platform != "win32":
            options["start_new_session"] = True
        try:
            output, child_output = os.pipe()
        except OSError as error:  # too many open files
            raise EngineNotFoundError(f"engine command {command!r}: {error}") from error
        try:
            process = await asyncio.create_subprocess_exec(
                *supervised_command(line, cpus),
                stdin=subprocess.PIPE,
                stdout=child_output,
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
            os.close(child_output)
        return cls(process, output, log, JobObject.of(process.pid))

    @property
    def pid(self) -> int:
        """Return the process id. On Linux, it is the id of the supervisor."""
        return self._process.pid

    def send(self, text: str) -> None:
        """Queue lines for the engine without blocking."""
        if self._log:
            for line in text.splitlines():
                self._log.write(self.pid, ">", line)
        assert self._process.stdin is not None
        if not self._process.stdin.is_closing():
            with contextlib.suppress(OSError):
                self._process.stdin.write(text.encode() + b"\n")

    async def read_line(self) -> str:
        """Return the next line. Raise `EngineDiedError` at the end of the output."""
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
        """Send `quit` and close the input. Kill the process after `limit` seconds."""
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
        # An escaped child may keep the pipes open, so the wait is limited.
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
            transport.close()  # Kills the process if it is still running.
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
        """Return how the process ended. Call this method only after the end of the output."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(QUIT_LIMIT):
                await self._process.wait()
                await asyncio.wait([self._stderr_reader])
        return describe_exit(self._process.returncode, self._stderr)


def describe_exit(code: int | None, stderr: bytes | bytearray) -> str:
    """Return how a process ended, with the last line of its standard error.

    `code` is a return code of `subprocess`, or None if the process has only closed its output.
    """
    if code is None:
        reason = Message("closed its output")
    elif code < 0:
        reason = Message("was killed by signal {}", -code)
    else:
        reason = Message("ended with status {}", code)
    lines = bytes(stderr).strip().splitlines()
    if not lines:
        return reason
    return Message("{}: {}", reason, sanitize_line(_text(lines[-1]), MAX_MESSAGE_LENGTH))


def _text(line: bytes | bytearray) -> str:
    return sanitize_line(line.decode("utf-8", "replace"), MAX_LINE_LENGTH)
