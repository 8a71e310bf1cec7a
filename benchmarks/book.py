"""Latency of a book move as a GUI sees it. Passes if the slowest move took less than 5 ms.

    python benchmarks/book.py --moves 200

To measure the strength of the book, run `python benchmarks/book_match.py`.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from typing import IO

from report import KEMPELEN, parser, show

MAX_LATENCY_MS = 5.0


def measure(moves: int) -> list[float]:
    """Play self-play games from the book; return the milliseconds of each move."""
    took: list[float] = []
    with subprocess.Popen(
        KEMPELEN, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as engine:
        assert engine.stdin
        assert engine.stdout
        engine.stdin.write("uci\nisready\n")
        _until(engine.stdout, "readyok")
        played: list[str] = []
        while len(took) < moves:
            engine.stdin.write(f"position startpos moves {' '.join(played)}\n")
            began = time.perf_counter()
            engine.stdin.write("go movetime 20\n")
            lines = _until(engine.stdout, "bestmove")
            milliseconds = (time.perf_counter() - began) * 1e3
            if any(line.startswith("info string book") for line in lines):
                took.append(milliseconds)
                played.append(lines[-1].split()[1])
            else:
                played = []
        engine.stdin.write("quit\n")
    return took


def _until(output: IO[str], start: str) -> list[str]:
    lines = []
    for line in output:
        lines.append(line)
        if line.startswith(start):
            return lines
    raise SystemExit(f"the engine ended before it said {start}")


def main(arguments: argparse.Namespace) -> int:
    """Measure and report."""
    took = measure(arguments.moves)
    row = (len(took), round(statistics.median(took), 2), round(max(took), 2))
    show("book moves", ("moves", "median ms", "worst ms"), [row], arguments.json)
    return 0 if max(took) < MAX_LATENCY_MS else 1


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--moves", type=int, default=200)
    sys.exit(main(options.parse_args()))
