"""A protocol session over standard input and output."""

import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Protocol

from agent.io.files import open_append
from agent.io.stdin import detach_stdin
from protocols.line_splitter import LineSplitter

# Longer lines are dropped, to limit memory use.
MAX_LINE_LENGTH = 4 << 20
POLL_INTERVAL = 0.25  # seconds between checks that the output is still open
_CHUNK_SIZE = 1 << 16


class LineProtocol(Protocol):
    """A line-based protocol that performs no I/O itself."""

    @property
    def finished(self) -> bool:
        """Return whether the session should end."""

    def handle_line(self, line: str) -> Iterable[str]:
        """Handle one line. Return the immediate replies in order, without newlines."""

    def handle_overlong_line(self) -> Iterable[str]:
        """Return the replies to a line that was dropped because it was too long."""


class LineWriter(Protocol):
    """Writes output lines that are not direct replies, and controls the log."""

    def send(self, line: str) -> None:
        """Write a line. This method is thread-safe and never raises an exception."""

    def log_to(self, path: str) -> None:
        """Log all lines to a file, or stop if `path` is empty. Raise `OSError` on failure."""


class StdioSession:
    """Connects a protocol to two file descriptors. Any thread may send lines."""

    def __init__(self, source: int, sink: int) -> None:
        self._input_fd = source
        self._output_fd = sink
        self._ended = threading.Event()
        self._broken = False
        self._lock = threading.Lock()
        self._log: BinaryIO | None = None

    @classmethod
    def from_stdio(cls) -> "StdioSession":
        """Create a session that takes over standard input and output.

        Afterwards, other code prints to standard error, and child processes get an empty input.
        """
        source, sink = detach_stdin(), _duplicate(1)
        devnull = os.open(os.devnull, os.O_RDWR)
        try:
            os.dup2(2, 1)
        except OSError:  # Standard error is closed.
            os.dup2(devnull, 1)
        os.close(devnull)
        if sys.platform == "win32":
            import msvcrt

            for descriptor in (source, sink):
                msvcrt.setmode(descriptor, os.O_BINARY)
        return cls(source, sink)

    def run(self, protocol: LineProtocol) -> None:
        """Run until the protocol, input or output ends.

        A front end that has died is noticed even while a line is handled and nothing is sent.
        """
        reader = threading.Thread(target=self._read, args=(protocol,), name="reader", daemon=True)
        reader.start()
        try:
            while not self._ended.wait(POLL_INTERVAL):
                if not self.is_output_open():
                    self._ended.set()
        finally:
            self._ended.set()

    def end(self) -> None:
        """End the session without reading further input. This method is thread-safe."""
        self._ended.set()

    def is_output_open(self) -> bool:
        """Return False if the output is known to be closed."""
        return not (self._broken or is_hung_up(self._output_fd))

    def send(self, line: str) -> None:
        """Write one line atomically and flush it. Thread-safe, and never raises an exception."""
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
        """Log a line, or stop logging after a write error. The caller must hold the lock."""
        if self._log is None:
            return
        try:
            text = f"{time.time():.3f} {direction} {line}\n"
            self._log.write(text.encode(errors="backslashreplace"))
            self._log.flush()
        except (OSError, ValueError):
            self._log = None


def is_hung_up(descriptor: int, *, half: bool = False) -> bool:
    """Return whether the other end of a pipe or connection is known to be closed.

    With `half`, also return True if the peer is known to send nothing more (Linux only).
    """
    try:
        import select

        poll = select.poll()
    except (ImportError, AttributeError):  # Windows
        return False
    end = getattr(select, "POLLRDHUP", 0) if half else 0
    poll.register(descriptor, end)
    # On macOS, the result is POLLNVAL for open devices, such as a terminal.
    return any(event & (select.POLLHUP | select.POLLERR | end) for _, event in poll.poll(0))


def _duplicate(descriptor: int) -> int:
    try:
        return os.dup(descriptor)
    except OSError:  # The descriptor is closed.
        return os.open(os.devnull, os.O_RDWR)


def _lines(source: int) -> Iterator[str | None]:
    """Yield the lines from a file descriptor, with None for each line that is too long."""
    splitter = LineSplitter(MAX_LINE_LENGTH)
    while chunk := _read_some(source):
        yield from splitter.feed(chunk)
    yield from splitter.end()


def _read_some(source: int) -> bytes:
    try:
        return os.read(source, _CHUNK_SIZE)
    except OSError:
        return b""
