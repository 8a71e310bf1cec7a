"""The harness of the benchmarks: options, child processes, comparisons, ledgers and tables."""

import argparse
import atexit
import contextlib
import json
import re
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any
from weakref import WeakSet

from rich.console import Console
from rich.table import Table

from kempelen.console.argument_types import positive_int

KEMPELEN = [sys.executable, "-m", "kempelen.cli"]
# The same as an engine of `kempelen match`, to be followed by settings.
MATCH_ENGINE = f"cmd={KEMPELEN[0]},args={' '.join(KEMPELEN[1:])} uci"
STOCKFISH = "Stockfish"

_started: "WeakSet[subprocess.Popen[Any]]" = WeakSet()
_tables: list[dict[str, Any]] = []  # the tables shown so far, for the JSON file


def parser(doc: str) -> argparse.ArgumentParser:
    """Return a parser with the option that all benchmarks share.

    Also makes SIGTERM a normal exit, which kills the benchmark's child processes.
    """
    end_in_order()
    result = argparse.ArgumentParser(description=doc.splitlines()[0])
    result.add_argument("--json", type=Path, metavar="FILE", help="write the tables to FILE")
    return result


def even_count(text: str) -> int:
    """Parse a positive even number, as of games that are played in pairs."""
    if not text.isdecimal() or not int(text) or int(text) % 2:
        raise argparse.ArgumentTypeError(f"must be a positive even number (got {text!r})")
    return int(text)


def add_concurrency(options: argparse.ArgumentParser) -> None:
    """Add the option for measuring several results at once."""
    options.add_argument(
        "--concurrency", type=positive_int, default=1, help="number of games at once (default: 1)"
    )


def end_in_order() -> None:
    """Convert SIGTERM to a normal exit, so that child processes are killed."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _exit)


def _exit(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def spawn(*arguments: Any, **options: Any) -> "subprocess.Popen[Any]":
    """Start a process like `subprocess.Popen`, and kill it when this process exits."""
    process = subprocess.Popen(*arguments, **options)
    _started.add(process)
    return process


@atexit.register
def _end_all() -> None:
    for child in list(_started):
        with contextlib.suppress(OSError):
            child.kill()


class Engine:
    """A program that reads and writes lines over pipes, as a GUI sees it."""

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = spawn(command, text=True, bufsize=1, **pipes, **options)

    def say(self, *lines: str) -> None:
        self.process.stdin.write("".join(f"{line}\n" for line in lines))
        self.process.stdin.flush()

    def read(self, start: str) -> str:
        """Return the next line that starts with `start`. Exit if the output ends before it."""
        for line in self.process.stdout:
            if line.startswith(start):
                return line
        raise SystemExit(f"the engine ended before it said {start}")

    def time(self, line: str, start: str) -> float:
        """Send a line; return the seconds until a line that starts with `start`."""
        began = time.perf_counter()
        self.say(line)
        self.read(start)
        return time.perf_counter() - began

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


def stockfish(required: bool = False) -> str | None:
    """Return the path of Stockfish, from the PATH or Debian's folder of games."""
    path = shutil.which("stockfish") or shutil.which("/usr/games/stockfish")
    if required and path is None:
        raise SystemExit("stockfish is not installed: run scripts/install-debian-packages")
    return path


@contextlib.contextmanager
def server(*words: str) -> Iterator[tuple[str, int]]:
    """Start a `kempelen` command that serves; yield its address and its process ID."""
    process = spawn([*KEMPELEN, *words], stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stderr:
            if match := re.search(r" listening address=(\S+)", line):
                spawn(["cat"], stdin=process.stderr, stdout=subprocess.DEVNULL)
                yield match[1], process.pid
                break
        else:
            raise SystemExit("the server does not listen")
    finally:
        process.terminate()
        process.wait()


@dataclass(frozen=True)
class Program:
    """A UCI engine to measure: its command, and the folder that it is started in."""

    name: str
    command: tuple[str, ...]
    folder: str | None = None


def programs(options: argparse.Namespace) -> list[Program]:
    """Return Kempelen, Kempelen in the folder of `--beside`, and Stockfish if it is installed."""
    ours = (*KEMPELEN, "uci")
    found = [Program("Kempelen", ours)]
    if options.beside:
        found.append(Program(f"in {options.beside}", ours, options.beside))
    return found + [Program(STOCKFISH, (path,)) for path in [stockfish()] if path]


def comparison_parser(doc: str, runs: int) -> argparse.ArgumentParser:
    """Return a parser with the options of a comparison of programs."""
    result = parser(doc)
    result.add_argument(
        "--runs", type=int, default=runs, help="runs, in turns (default: %(default)s)"
    )
    result.add_argument(
        "--beside", metavar="FOLDER", help="folder of other sources to compare with"
    )
    return result


def compare(
    title: str,
    options: argparse.Namespace,
    measure: Callable[[Program, Any], dict[str, float]],
    cases: Iterable[Any] = (None,),
    others: Sequence[Program] = (),
) -> None:
    """Measure all programs in turns, and show each figure with its ratio to our own.

    A figure is the mean over the cases of the medians over the runs.

    measure: returns figures of a program in a case, by name.
    others: programs besides those of `programs`.
    """
    all_programs = [*programs(options), *others]
    found: dict[str, dict[str, dict[Any, list[float]]]] = {}
    for _ in range(options.runs):
        for case in cases:
            for program in all_programs:
                for name, value in measure(program, case).items():
                    by_case = found.setdefault(name, {}).setdefault(program.name, {})
                    by_case.setdefault(case, []).append(value)
    rows = []
    for name, by_program in found.items():
        means = {
            program: statistics.mean(map(statistics.median, by_case.values()))
            for program, by_case in by_program.items()
        }
        row: list[Any] = [name, means.get(all_programs[0].name, "")]
        for other in all_programs[1:]:
            both = row[1] != "" and other.name in means
            row += [means.get(other.name, ""), row[1] / means[other.name] if both else ""]
        rows.append(row)
    columns = ["figure", all_programs[0].name]
    for other in all_programs[1:]:
        columns += [other.name, f"x {other.name}"]
    show(title, columns, rows, options.json)


def show(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], file: Path | None
) -> None:
    """Print a table, and write all tables so far to `file` as JSON if a file is given."""
    show_progress("")
    rows = list(rows)
    table = Table(title=title)
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left")
    for row in rows:
        table.add_row(*map(_cell, row))
    Console(width=max(100, Console().width)).print(table)
    records = [dict(zip(columns, row, strict=True)) for row in rows]
    _tables.append({"title": title, "rows": records})
    if file is not None:
        file.write_text(json.dumps(_tables, indent=1) + "\n")


def show_figures(title: str, figures: dict[str, Any], file: Path | None) -> None:
    """Show figures by name, like `show`."""
    show(title, ("figure", "value"), figures.items(), file)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if type(value) is int else str(value)


def show_progress(text: str) -> None:
    """Replace the progress line, if standard error is a terminal."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr)


def percentile(values: Iterable[float], percent: float) -> float:
    """Return the smallest value that at least `percent` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * percent / 100), len(ordered) - 1)]


def memory(process: int | str, field: str = "VmRSS") -> float:
    """Return a memory figure of a process in MB (Linux). VmHWM is the peak."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) / 1024


def elo_of_pairs(counts: Sequence[int]) -> str:
    """Return Elo with its error, from the counts of pairs by half points, 0 to 4."""
    from kempelen.match.rating.match_statistics import estimate_strength

    elo = estimate_strength(counts).elo
    return f"{elo.value:+.0f} +- {elo.error:.0f}"


def match_summary(command: Sequence[str]) -> dict[str, Any]:
    """Play a match; return its summary. Raise CalledProcessError if it fails."""
    command = [*KEMPELEN, "match", "--json", *command]
    process = spawn(command, stdout=subprocess.PIPE, text=True)
    text, _ = process.communicate()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    summary: dict[str, Any] = json.loads(text)["summary"]
    return summary


def measure_in_threads(
    numbers: Sequence[int], measure: Callable[[int], Any], concurrency: int
) -> Iterator[tuple[int, Any]]:
    """Yield each number with its result, in order of completion.

    With `concurrency` 1, no thread is started.
    """
    if concurrency == 1:
        yield from ((number, measure(number)) for number in numbers)
        return
    waiting: SimpleQueue[int] = SimpleQueue()
    results: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()
    for number in numbers:
        waiting.put(number)

    def work() -> None:
        with contextlib.suppress(Empty):
            while True:
                number = waiting.get_nowait()
                try:
                    results.put((number, measure(number), None))
                except BaseException as error:  # noqa: BLE001 - SystemExit, too, ends the benchmark
                    results.put((number, None, error))

    for _ in range(concurrency):
        threading.Thread(target=work, daemon=True).start()  # an interrupt does not wait for them
    try:
        for _ in numbers:
            number, found, error = results.get()
            if error is not None:
                raise error
            yield number, found
    finally:
        with contextlib.suppress(Empty):  # start nothing more
            while True:
                waiting.get_nowait()


class JsonLedger:
    """Results by number, measured with certain settings: one JSON object per line of a file.

    Repeated runs add entries, and an interrupted run continues. An incomplete line is ignored, so
    that its entry is measured again.

    file: the ledger file; None keeps the results in memory only.
    """

    def __init__(self, file: Path | None, settings: dict[str, Any]) -> None:
        self._file = file
        self._settings = settings
        self._entries: dict[int, Any] = {}
        for line in file.read_text("utf-8").splitlines() if file and file.exists() else ():
            with contextlib.suppress(ValueError):
                entry = json.loads(line)
                if entry.get("settings") == settings:
                    self._entries[entry["number"]] = entry["found"]

    def collect(self, count: int, measure: Callable[[int], Any], concurrency: int = 1) -> list[Any]:
        """Return the results for the numbers below `count`; measure those that are missing.

        concurrency: number of threads.
        """
        missing = [number for number in range(count) if number not in self._entries]
        done = count - len(missing)
        for number, found in measure_in_threads(missing, measure, concurrency):
            self._add(number, found)
            done += 1
            show_progress(f"{done} of {count}")
        return [self._entries[number] for number in range(count)]

    def _add(self, number: int, found: Any) -> None:
        self._entries[number] = found
        if self._file:
            entry = {"settings": self._settings, "number": number, "found": found}
            text = self._file.read_text("utf-8") if self._file.exists() else ""
            with self._file.open("a", encoding="utf-8") as file:
                file.write("\n" * (bool(text) and not text.endswith("\n")))
                file.write(json.dumps(entry) + "\n")
