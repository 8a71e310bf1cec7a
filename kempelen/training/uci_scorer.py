"""Score positions with a UCI engine. A watchdog thread kills an engine that hangs."""

import contextlib
import math
import os
import re
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Self

from agent.io.command_line import split_command_line
from agent.io.sanitize import sanitize_line
from protocols.client.engine import MAX_KEPT_LENGTH, EngineOptionError
from protocols.client.job_object import JobObject
from protocols.client.own_engine import is_option_error, is_search_error, own_message
from protocols.client.process import (
    MAX_LINE_LENGTH,
    MAX_MESSAGE_LENGTH,
    STDERR_TAIL,
    EngineError,
    creation_flags,
    describe_exit,
    find_program,
    supervised_command,
)
from protocols.client.uci import Option, parse_option

START_TIMEOUT = 60.0  # seconds; engines may load networks or compile
SEARCH_TIMEOUT = 60.0  # seconds per position
SHUTDOWN_TIMEOUT = 5.0  # seconds before the engine is killed
MATE_SCORE = 30_000  # centipawns
CHESS960 = "UCI_Chess960"

_POLL_INTERVAL = 0.25  # seconds
_KEPT_LINES = 100  # last output lines that are kept per command

_SCORE = re.compile(rb"info (?!string ).*?\bscore (cp|mate) (-?\d{1,9})\b")
_DEPTH = re.compile(rb"\bdepth (\d{1,9})\b")
_OTHER_MULTIPV = re.compile(rb"\bmultipv (?!1\b)")
_BOUND = re.compile(rb"\b(?:lower|upper)bound\b")


class UciScorer:
    """A UCI engine process. All methods may raise EngineError."""

    def __init__(self, command: str, options: Mapping[str, str], limit: float) -> None:
        """Start the engine and set its options.

        `command` is a command line in shell syntax. `limit` is the timeout per position in seconds.
        """
        self.command = command
        self.name = command
        self._author = ""
        self._limit = limit
        self._chess960: bool | None = None
        self._declared: dict[str, Option] = {}  # keys are lower-case names
        self._stderr_tail = bytearray()
        self._timed_out = False
        self._deadline = time.monotonic() + START_TIMEOUT
        self._ended = threading.Event()
        self._process = self._start()
        self._job = JobObject.of(self._process.pid)
        self._input: IO[bytes] = _pipe(self._process.stdin)
        self._output: IO[bytes] = _pipe(self._process.stdout)
        self._threads = [
            threading.Thread(target=each, daemon=True)
            for each in (self._watch_deadline, self._read_stderr)
        ]
        for thread in self._threads:
            thread.start()
        try:
            self._handshake(options)
        except BaseException:
            self.close()
            raise

    def new_game(self) -> None:
        """Send `ucinewgame` to clear the state of the engine."""
        self._deadline = time.monotonic() + START_TIMEOUT
        self._send("ucinewgame\nisready")
        self._read_until(b"readyok")

    def score(
        self, fen: str, chess960: bool, nodes: int | None = None, depth: int | None = None
    ) -> tuple[int, int]:
        """Return the score in centipawns for the side to move, and the search depth.

        A mate in N moves has the score MATE_SCORE - N. The result is the last exact score, or the
        last bound if there is no exact score. Bounds proved less accurate (Stockfish 15.1 at 400
        nodes, compared with 20,000 nodes).

        `chess960` is true if the castling rights in `fen` follow the rules of Chess960. At least
        one of `nodes` and `depth` is required.
        """
        self._deadline = time.monotonic() + self._limit
        if chess960 != self._chess960:
            self._set_chess960(chess960)
        limit_values = {"nodes": nodes, "depth": depth}
        limits = [f"{name} {value}" for name, value in limit_values.items() if value is not None]
        self._send(f"position fen {fen}\ngo {' '.join(limits)}")
        lines: deque[bytes] = deque(maxlen=_KEPT_LINES)
        for line in self._lines():
            if line.startswith(b"bestmove"):
                break
            lines.append(line)
        self._deadline = math.inf
        for line in lines:
            if is_search_error(message := own_message(self._author, _text(line))):
                raise EngineError(f"{self.command}: {message}")
        for use_bounds in (False, True):  # use a bound only if there is no exact score
            for line in reversed(lines):
                match = _SCORE.match(line)
                if (
                    match
                    and not _OTHER_MULTIPV.search(line)
                    and bool(_BOUND.search(line)) == use_bounds
                ):
                    return _centipawns(match), _depth(line)
        last_line = sanitize_line(_text(lines[-1]), MAX_MESSAGE_LENGTH) if lines else ""
        suffix = f" (last output: {last_line!r})" if last_line else ""
        raise self._error(f"returned no score for {fen}{suffix}")

    def close(self) -> None:
        """Stop the engine and its child processes."""
        self._ended.set()
        with contextlib.suppress(OSError):
            self._input.write(b"quit\n")
            self._input.flush()
        with contextlib.suppress(OSError):
            self._input.close()
        try:
            self._process.wait(SHUTDOWN_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._kill()
            try:
                self._process.wait(SHUTDOWN_TIMEOUT)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._job is not None:
            self._job.close()
        for thread in self._threads:
            thread.join(SHUTDOWN_TIMEOUT)
        self._output.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            program, *arguments = split_command_line(self.command) or [""]
            line: Sequence[str] = supervised_command([find_program(program), *arguments])
            return subprocess.Popen(
                line,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                creationflags=creation_flags(),
            )
        except (ValueError, OSError, EngineError) as error:
            raise EngineError(f"{self.command}: {error}") from None

    def _handshake(self, options: Mapping[str, str]) -> None:
        self._send("uci")
        length = 0
        for line in self._lines():
            if line.startswith(b"id name "):
                self.name = sanitize_line(_text(line[8:]), MAX_MESSAGE_LENGTH)
            elif line.startswith(b"id author "):
                self._author = sanitize_line(_text(line[10:]), MAX_MESSAGE_LENGTH)
            elif line.startswith(b"option name ") and (option := parse_option(_text(line))):
                length += len(line)
                if length > MAX_KEPT_LENGTH:
                    raise self._error(f"declares too many options (over {MAX_KEPT_LENGTH} bytes)")
                self._declared[option.name.casefold()] = option
            elif line == b"uciok":
                break
        for name, value in options.items():
            option = self._declared.get(name.casefold())
            if option is None:
                raise self._error(f"has no option {name}")
            try:
                self._send(f"setoption name {name} value {option.check(value)}")
            except EngineOptionError as error:
                raise EngineError(f"{self.command}: {error}") from None
        self._send("isready")
        for line in self._read_until(b"readyok"):
            if is_option_error(message := own_message(self._author, _text(line))):
                raise EngineError(f"{self.command}: {message}")

    def _set_chess960(self, value: bool) -> None:
        if CHESS960.casefold() in self._declared:
            self._send(f"setoption name {CHESS960} value {str(value).lower()}")
        elif value:
            raise self._error(f"has no option {CHESS960}, which Chess960 positions require")
        self._chess960 = value

    def _send(self, text: str) -> None:
        try:
            self._input.write(text.encode() + b"\n")
            self._input.flush()
        except OSError:
            raise self._error(self._exit_reason()) from None

    def _read_until(self, terminator: bytes) -> list[bytes]:
        lines: deque[bytes] = deque(maxlen=_KEPT_LINES)
        for line in self._lines():
            if line == terminator:
                break
            lines.append(line)
        self._deadline = math.inf
        return list(lines)

    def _lines(self) -> Iterator[bytes]:
        while line := self._output.readline(MAX_LINE_LENGTH):
            yield line.strip()
        raise self._error(self._exit_reason())

    def _error(self, what: str) -> EngineError:
        return EngineError(f"{self.command}: the engine {what}")

    def _exit_reason(self) -> str:
        if self._timed_out:
            return "timed out and was killed"
        self._deadline = math.inf  # the process ends by itself: nobody may kill it now
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(SHUTDOWN_TIMEOUT)
        self._threads[1].join(SHUTDOWN_TIMEOUT)
        return describe_exit(self._process.returncode, self._stderr_tail)

    def _watch_deadline(self) -> None:
        # Killing the engine also ends a blocking read.
        while not self._ended.wait(_POLL_INTERVAL):
            if time.monotonic() > self._deadline:
                self._timed_out = True
                self._kill()
                return

    def _kill(self) -> None:
        if sys.platform == "linux":
            self._process.terminate()  # terminates the supervisor, which kills the engine
        else:
            if self._job is not None:
                self._job.end()
            self._process.kill()

    def _read_stderr(self) -> None:
        # An engine blocks if nobody reads its standard error.
        errors = _pipe(self._process.stderr)
        with errors:
            while chunk := os.read(errors.fileno(), STDERR_TAIL):
                self._stderr_tail += chunk
                del self._stderr_tail[:-STDERR_TAIL]


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")


def _centipawns(score: re.Match[bytes]) -> int:
    kind, number = score[1], int(score[2])
    if kind == b"mate":
        number = MATE_SCORE - number if number > 0 else -MATE_SCORE - number
    return max(-MATE_SCORE, min(MATE_SCORE, number))


def _depth(line: bytes) -> int:
    match = _DEPTH.search(line)
    return min(int(match[1]), 255) if match else 0
