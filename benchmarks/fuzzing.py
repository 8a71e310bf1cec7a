"""Random input lines and engine sessions for the protocol fuzzers."""

import contextlib
import random
import re
import subprocess
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from harness import KEMPELEN, parser, show_figures, spawn

PAUSE_EVERY = 50  # number of lines that are sent between two pauses


def mutated(rng: random.Random, line: str) -> str:
    """Return a line with a few random errors."""
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(line) + 1)
        words = line.split(" ")
        match rng.randrange(6):
            case 0:
                line = line[:at] + chr(rng.choice((rng.randrange(32, 127), 0, 9, 233))) + line[at:]
            case 1:
                line = line[:at] + line[at + 1 :]
            case 2:
                line = line[:at]
            case 3:
                rng.shuffle(words)
                line = " ".join(words)
            case 4:
                line = " ".join(words + words[:3])
            case 5:
                line = re.sub(r"\d+", str(rng.choice((-1, 10**30, "nan", "1e9", "0x1"))), line)
    return line


def lines(
    rng: random.Random,
    number: int,
    valid_line: Callable[[random.Random], str],
    harmless: Callable[[bytes], bool],
) -> list[bytes]:
    """Return random lines: valid, mutated, overlong and binary ones, if `harmless` accepts them."""
    made: list[bytes] = []
    while len(made) < number:
        kind = rng.random()
        line = valid_line(rng)
        if kind < 0.1:
            data = rng.randbytes(rng.randrange(200)).replace(b"\n", b"")
        elif kind < 0.5:
            data = mutated(rng, line).encode(errors="replace").replace(b"\n", b"")
        elif kind < 0.502:
            data = (line + " ").encode() * 1000
        else:
            data = line.encode()
        if harmless(data):
            made.append(data)
    return made


class FuzzSession:
    """A `kempelen` process that is sent lines and then an ending, and killed after a timeout.

    `status`, `seconds` and `errors` are known when the `with` block has ended.

    pause: seconds between batches of lines, in which searches can finish; 0 sends all lines at
    once.
    """

    def __init__(
        self,
        arguments: list[str],
        data: list[bytes],
        ending: bytes,
        folder: str,
        timeout: float,
        pause: float = 0.0,
    ) -> None:
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.engine = spawn([*KEMPELEN, *arguments], cwd=folder, **pipes)
        self.errors: list[str] = []  # lines from standard error
        self._began = time.monotonic()
        self._watchdog = threading.Timer(timeout, self.engine.kill)
        self._threads = [
            threading.Thread(target=self._read_errors),
            threading.Thread(target=self._say_all, args=(data, ending, pause)),
        ]

    def __enter__(self) -> "FuzzSession":
        for thread in (self._watchdog, *self._threads):
            thread.daemon = True
            thread.start()
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if error is not None:
            self.engine.kill()
        self.status = self.engine.wait()
        self.seconds = round(time.monotonic() - self._began, 1)
        self._watchdog.cancel()
        for thread in self._threads:
            thread.join()

    def heard(self) -> Iterator[str]:
        """Yield the engine's output lines until it ends."""
        for raw in self.engine.stdout:
            yield raw.decode(errors="backslashreplace").rstrip("\r\n")

    def say(self, text: bytes) -> None:
        """Send input to the engine. Do nothing if the engine has ended."""
        with contextlib.suppress(OSError):
            self.engine.stdin.write(text)
            self.engine.stdin.flush()

    def _read_errors(self) -> None:
        self.errors.extend(line.decode(errors="replace") for line in self.engine.stderr)

    def _say_all(self, data: list[bytes], ending: bytes, pause: float) -> None:
        size = PAUSE_EVERY if pause else max(len(data), 1)
        for start in range(0, len(data), size):
            self.say(b"".join(line + b"\n" for line in data[start : start + size]))
            time.sleep(pause)
        self.say(ending)


def options(doc: str) -> ArgumentParser:
    """Return a parser with the options that all fuzzers share."""
    result = parser(doc)
    result.add_argument("--lines", type=int, default=100_000)
    result.add_argument("--seed", type=int, default=1)
    result.add_argument("--timeout", type=float, default=3600.0, help="timeout in seconds")
    return result


def report(
    title: str,
    figures: dict[str, Any],
    session: FuzzSession,
    failures: list[str],
    passed: bool,
    file: Path | None,
) -> int:
    """Show the results; return the exit status, 0 if the engine passed and quit in order.

    failures: invalid output lines.
    passed: whether the engine answered as it should.
    """
    failures = failures[:10] + session.errors[:10]
    ends = {"seconds": session.seconds, "exit status": session.status, "failures": failures}
    show_figures(title, figures | ends, file)
    return 0 if passed and session.status == 0 and not failures else 1
