"""Random input lines and engine sessions for the protocol fuzzers."""

import json
import random
import re
import subprocess
import sys
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


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


@dataclass
class FuzzSession:
    """An engine under test. `status`, `seconds` and `errors` are known when it has ended."""

    engine: "subprocess.Popen[bytes]"
    errors: list[str] = field(default_factory=list)  # lines from standard error
    status: int | None = None
    seconds: float = 0.0

    def heard(self) -> Iterator[str]:
        """Yield the engine's output lines until it ends."""
        for raw in self.engine.stdout or ():
            yield raw.decode(errors="backslashreplace").rstrip("\r\n")

    def say(self, text: bytes) -> None:
        """Send input to the engine. Do nothing if the engine has ended."""
        assert self.engine.stdin
        try:
            self.engine.stdin.write(text)
            self.engine.stdin.flush()
        except OSError:
            pass


# Number of lines that are sent between two pauses.
PAUSE_EVERY = 50


@contextmanager
def fuzz_session(
    arguments: list[str],
    data: list[bytes],
    ending: bytes,
    folder: str,
    timeout: float,
    pause: float = 0.0,
) -> Iterator[FuzzSession]:
    """Start `kempelen` in a folder and send the lines, then the ending. Kill it after the timeout.

    pause: seconds between batches of lines, in which searches can finish; 0 sends all lines at
    once.
    """
    engine = subprocess.Popen(
        [sys.executable, "-m", "kempelen.cli", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
    )
    talk = FuzzSession(engine)

    def read_errors() -> None:
        talk.errors.extend(line.decode(errors="replace") for line in engine.stderr or ())

    def say_all() -> None:
        size = PAUSE_EVERY if pause else max(len(data), 1)
        for start in range(0, len(data), size):
            talk.say(b"".join(line + b"\n" for line in data[start : start + size]))
            time.sleep(pause)
        talk.say(ending)

    watchdog = threading.Timer(timeout, engine.kill)
    threads = [
        threading.Thread(target=read_errors),
        threading.Thread(target=say_all),
    ]
    began = time.monotonic()
    for thread in (watchdog, *threads):
        thread.daemon = True
        thread.start()
    yield talk
    talk.status = engine.wait()
    talk.seconds = round(time.monotonic() - began, 1)
    watchdog.cancel()
    for thread in threads:
        thread.join()


def options(doc: str) -> ArgumentParser:
    """Return a parser with the options that all fuzzers share."""
    parser = ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=3600.0, help="timeout in seconds")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def report(found: dict[str, Any], as_json: bool) -> None:
    """Print the results, as JSON if requested."""
    if as_json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:10} {value}")
