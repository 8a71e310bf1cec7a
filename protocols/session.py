"""The session: who owns standard input and output, and carries lines between them and a protocol.

A line of output is written whole, by whichever thread has it, and flushed. The session ends when
the protocol says so, when input ends, or when nobody reads the output any more.
"""

import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Protocol

from agent.io.files import open_append
from agent.io.stdin import detach_stdin
from protocols.line_splitter import LineSplitter

# Longer lines are dropped, so that endless noise cannot fill the memory.
MAX_LINE_LENGTH = 4 << 20
_CHUNK_SIZE = 1 << 16


class LineProtocol(Protocol):
    """A protocol without input and output of its own."""

    @property
    def finished(self) -> bool:
        """Whether the session is to end."""

    def handle_line(self, line: str) -> Iterable[str]:
        """Act on one line and give the lines to answer at once, in order, without line ends."""

    def handle_overlong_line(self) -> Iterable[str]:
        """Say that a line was too long to be read."""


class LineWriter(Protocol):
    """How the protocol of a session says what no line asks for, and where it writes its log."""

    def send(self, line: str) -> None:
        """Say a line. From any thread; never raises."""

    def log_to(self, path: str) -> None:
        """Write all lines to a file from now on; to none if `path` is empty. Raises OSError."""


class StdioSession:
    """Reads lines from one file descriptor and writes lines to another."""

    def __init__(self, source: int, sink: int) -> None:
        self._input_fd = source
        self._output_fd = sink
        self._ended = threading.Event()
        self._broken = False
        self._lock = threading.Lock()
        self._log: BinaryIO | None = None

    @classmethod
    def from_stdio(cls) -> "StdioSession":
        """Take standard input and output over for this session alone.

        What other code prints goes to standard error, and child processes find an empty input:
        neither can break the conversation.
        """
        source, sink = detach_stdin(), _duplicate(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        try:
            os.dup2(2, 1)
        except OSError:  # there is no standard error
            os.dup2(nothing, 1)
        os.close(nothing)
        if sys.platform == "win32":
            import msvcrt

            for descriptor in (source, sink):
                msvcrt.setmode(descriptor, os.O_BINARY)
        return cls(source, sink)

    def run(self, protocol: LineProtocol) -> bool:
        """Carry lines until the end of the session; an interrupt from the keyboard ends it too.

        Return whether it ended by itself, with everything read.
        """
        reader = threading.Thread(target=self._read, args=(protocol,), name="reader", daemon=True)
        reader.start()
        try:
            self._ended.wait()
        except KeyboardInterrupt:
            self._ended.set()
            return False
        return True

    def end(self) -> None:
        """End the session, whatever is still to be read. From any thread."""
        self._ended.set()

    def is_output_open(self) -> bool:
        """Tell whether somebody still reads the output, as far as the system tells."""
        if self._broken:
            return False
        try:
            import select

            watch = select.poll()
        except (ImportError, AttributeError):  # as on Windows
            return True
        watch.register(self._output_fd, 0)
        return not watch.poll(0)

    def send(self, line: str) -> None:
        """Write one line, whole, and flush it. From any thread; never raises."""
        data = memoryview(f"{line}\n".encode(errors="backslashreplace"))
        with self._lock:
            self._log_line("<", line)
            try:
                while data:
                    data = data[os.write(self._output_fd, data) :]
            except OSError:
                self._broken = True
                self._ended.set()

    def log_to(self, path: str) -> None:
        """Write all lines, with the time, to a file from now on; to none if `path` is empty.

        Raises OSError, and keeps the old file, if the new one cannot be opened.
        """
        log = open_append(path) if path else None
        with self._lock:
            if self._log is not None:
                self._log.close()
            self._log = log

    def _read(self, protocol: LineProtocol) -> None:
        try:
            for line in _lines(self._input_fd):
                if self._ended.is_set():
                    return
                if line is None:
                    replies = protocol.handle_overlong_line()
                else:
                    with self._lock:
                        self._log_line(">", line)
                    replies = protocol.handle_line(line)
                for reply in replies:
                    self.send(reply)
                if protocol.finished:
                    return
        finally:
            self._ended.set()

    def _log_line(self, direction: str, line: str) -> None:
        """Log a line; the lock is held. A log that cannot be written is given up."""
        if self._log is None:
            return
        try:
            text = f"{time.time():.3f} {direction} {line}\n"
            self._log.write(text.encode(errors="backslashreplace"))
            self._log.flush()
        except (OSError, ValueError):
            self._log = None


def _duplicate(descriptor: int) -> int:
    try:
        return os.dup(descriptor)
    except OSError:  # it is closed: write to nobody
        return os.open(os.devnull, os.O_RDWR)


def _lines(source: int) -> Iterator[str | None]:
    """Yield the lines of a file descriptor, None for one that is too long."""
    splitter = LineSplitter(MAX_LINE_LENGTH)
    while chunk := _read_some(source):
        yield from splitter.feed(chunk)
    yield from splitter.end()


def _read_some(source: int) -> bytes:
    try:
        return os.read(source, _CHUNK_SIZE)
    except OSError:
        return b""
