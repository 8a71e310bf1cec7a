"""An engine that scores positions over a pipe, one after the other, as fast as it searches.

It is waited for in plain reads, and what it says is not looked at but for the last score. That it
answers in time is watched by a thread, which ends it if it does not.
"""

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

from agent.border.command_line import split_command_line
from agent.border.plain_text import plain
from protocols.client.engine import EngineOptionError
from protocols.client.job_object import JobObject
from protocols.client.ours import AUTHORS, failed, not_taken
from protocols.client.process import (
    LINE_LIMIT,
    STDERR_TAIL,
    WORDS_LIMIT,
    EngineError,
    creation_flags,
    end_in_words,
    find_program,
    supervised,
)
from protocols.client.uci import Option, parse_option

START_LIMIT = 60.0  # seconds for an engine to start, as it may read networks or compile
SEARCH_LIMIT = 60.0  # seconds for the answer to one position
END_LIMIT = 5.0  # seconds that an engine has to end before it is killed
MATE = 30_000  # centipawns
CHESS960 = "UCI_Chess960"

_GLANCE = 0.25  # seconds between two looks at the clock
_KEPT_LINES = 100  # of an answer: its last score is among them

_SCORE = re.compile(rb"info (?!string ).*?\bscore (cp|mate) (-?\d{1,9})\b")
_DEPTH = re.compile(rb"\bdepth (\d{1,9})\b")
_OTHER_LINE = re.compile(rb"\bmultipv (?!1\b)")
_BOUND = re.compile(rb"\b(?:lower|upper)bound\b")


class UciTeacher:
    """An engine's process. Every method may raise EngineError, which names the engine."""

    def __init__(self, command: str, options: Mapping[str, str], limit: float) -> None:
        """Start the engine and set its options.

        command: program and arguments, as a shell reads them.
        limit: seconds for the answer to one position.
        """
        self.command = command
        self.name = command
        self._author = ""
        self._limit = limit
        self._chess960: bool | None = None
        self._declared: dict[str, Option] = {}  # by names in lower case
        self._words = bytearray()
        self._late = False
        self._deadline = time.monotonic() + START_LIMIT
        self._ended = threading.Event()
        self._process = self._start()
        self._job = JobObject.of(self._process.pid)
        self._input: IO[bytes] = _pipe(self._process.stdin)
        self._output: IO[bytes] = _pipe(self._process.stdout)
        self._threads = [
            threading.Thread(target=each, daemon=True) for each in (self._watch, self._keep_words)
        ]
        for thread in self._threads:
            thread.start()
        try:
            self._introduce(options)
        except BaseException:
            self.close()
            raise

    def new_game(self) -> None:
        """Make the engine forget the game before."""
        self._deadline = time.monotonic() + START_LIMIT
        self._send("ucinewgame\nisready")
        self._until(b"readyok")

    def score(
        self, fen: str, chess960: bool, nodes: int | None = None, depth: int | None = None
    ) -> tuple[int, int]:
        """Return centipawns for the side to move, mates as `MATE` less their moves, and the depth.

        The score is the last that is no bound: what a search finds of an iteration before its end
        says less. With Stockfish 15.1 at 400 nodes it is nearer to what 20,000 nodes find.
        chess960: castling in the FEN is that of Chess960. nodes, depth: where the search ends; one
        of them, or both.
        """
        self._deadline = time.monotonic() + self._limit
        if chess960 != self._chess960:
            self._set_chess960(chess960)
        ends = {"nodes": nodes, "depth": depth}
        limits = [f"{name} {value}" for name, value in ends.items() if value is not None]
        self._send(f"position fen {fen}\ngo {' '.join(limits)}")
        said: deque[bytes] = deque(maxlen=_KEPT_LINES)
        for line in self._lines():
            if line.startswith(b"bestmove"):
                break
            said.append(line)
        self._deadline = math.inf
        for line in said if self._author == AUTHORS else ():
            if reason := failed(self._author, _text(line)):
                raise EngineError(f"{self.command}: {reason}")
        for wanted in (False, True):  # bounds only where there is nothing better
            for line in reversed(said):
                found = _SCORE.match(line)
                if found and not _OTHER_LINE.search(line) and bool(_BOUND.search(line)) == wanted:
                    return _centipawns(found), _depth(line)
        words = plain(_text(said[-1]), WORDS_LIMIT) if said else ""
        raise self._error(f"gave no score to {fen}" + (f", but said {words!r}" if words else ""))

    def close(self) -> None:
        """End the engine, and all that it started."""
        self._ended.set()
        with contextlib.suppress(OSError):
            self._input.write(b"quit\n")
            self._input.flush()
        with contextlib.suppress(OSError):
            self._input.close()
        try:
            self._process.wait(END_LIMIT)
        except subprocess.TimeoutExpired:
            self._end()
            try:
                self._process.wait(END_LIMIT)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._job is not None:
            self._job.close()
        for thread in self._threads:
            thread.join(END_LIMIT)
        self._output.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            program, *arguments = split_command_line(self.command) or [""]
            line: Sequence[str] = supervised([find_program(program), *arguments])
            return subprocess.Popen(
                line,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                creationflags=creation_flags(),
            )
        except (ValueError, OSError, EngineError) as error:
            raise EngineError(f"{self.command}: {error}") from None

    def _introduce(self, options: Mapping[str, str]) -> None:
        self._send("uci")
        for line in self._lines():
            if line.startswith(b"id name "):
                self.name = plain(_text(line[8:]), WORDS_LIMIT)
            elif line.startswith(b"id author "):
                self._author = plain(_text(line[10:]), WORDS_LIMIT)
            elif line.startswith(b"option name ") and (option := parse_option(_text(line))):
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
        for line in self._until(b"readyok"):
            if reason := not_taken(self._author, _text(line)):
                raise EngineError(f"{self.command}: {reason}")

    def _set_chess960(self, value: bool) -> None:
        if CHESS960.casefold() in self._declared:
            self._send(f"setoption name {CHESS960} value {str(value).lower()}")
        elif value:
            raise self._error(f"has no option {CHESS960}, and the positions are of Chess960")
        self._chess960 = value

    def _send(self, text: str) -> None:
        try:
            self._input.write(text.encode() + b"\n")
            self._input.flush()
        except OSError:
            raise self._error(self._end_in_words()) from None

    def _until(self, wanted: bytes) -> list[bytes]:
        """Read until a line; return the last ones before it."""
        said: deque[bytes] = deque(maxlen=_KEPT_LINES)
        for line in self._lines():
            if line == wanted:
                break
            said.append(line)
        self._deadline = math.inf
        return list(said)

    def _lines(self) -> Iterator[bytes]:
        """Yield what it says, without end; one that is too long comes in pieces."""
        while line := self._output.readline(LINE_LIMIT):
            yield line.strip()
        raise self._error(self._end_in_words())

    def _error(self, what: str) -> EngineError:
        return EngineError(f"{self.command}: the engine {what}")

    def _end_in_words(self) -> str:
        """Tell why there is nothing more to be read."""
        if self._late:
            return "did not answer in time and was ended"
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        self._threads[1].join(0.2)
        return end_in_words(self._process.returncode, self._words)

    def _watch(self) -> None:
        """End an engine that is late; its output ends with it, for whoever reads that."""
        while not self._ended.wait(_GLANCE):
            if time.monotonic() > self._deadline:
                self._late = True
                self._end()
                return

    def _end(self) -> None:
        if sys.platform == "linux":
            self._process.terminate()  # its supervisor, which ends it
        else:
            if self._job is not None:
                self._job.end()
            self._process.kill()

    def _keep_words(self) -> None:
        """Read what it says on standard error, so that it need not wait, and keep the end."""
        errors = _pipe(self._process.stderr)
        with errors:
            while chunk := os.read(errors.fileno(), STDERR_TAIL):
                self._words += chunk
                del self._words[:-STDERR_TAIL]


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")


def _centipawns(score: re.Match[bytes]) -> int:
    kind, number = score[1], int(score[2])
    if kind == b"mate":
        number = MATE - number if number > 0 else -MATE - number
    return max(-MATE, min(MATE, number))


def _depth(line: bytes) -> int:
    found = _DEPTH.search(line)
    return min(int(found[1]), 255) if found else 0
