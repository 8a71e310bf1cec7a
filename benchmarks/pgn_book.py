r"""Speed and memory of building a book from many generated games.

    python benchmarks/pgn_book.py --games 50000

The games start with moves of the bundled book, and continue with random moves. They have clock
comments, as in the game collections of chess servers. Some games are deliberately damaged. `book
build` must count these.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

import chess
import chess.polyglot
from report import parser, show

from openings.book_provider import SHIPPED_BOOK

DAMAGED_EVERY = 500
PLIES = 30


def write_games(file: IO[str], count: int, seed: int) -> int:
    """Write games; return the number of damaged ones."""
    chance = random.Random(seed)
    damaged = 0
    with chess.polyglot.open_reader(SHIPPED_BOOK) as book:
        for number in range(count):
            words = _game(chance, book)
            if number % DAMAGED_EVERY == 0:
                words[chance.randrange(6)] = "Qh9"
                damaged += 1
            result = chance.choice(("1-0", "0-1", "1/2-1/2"))
            file.write(f'[Event "{number}"]\n[White "A"]\n[Black "B"]\n[Result "{result}"]\n')
            file.write('[WhiteElo "2400"]\n[BlackElo "2300"]\n\n')
            text = []
            for ply, word in enumerate(words):
                dots = "." if ply % 2 == 0 else "..."
                text.append(f"{ply // 2 + 1}{dots} {word} {{ [%clk 0:03:{ply % 60:02}] }}")
            file.write(" ".join(text) + f" {result}\n\n")
    return damaged


def _game(chance: random.Random, book: chess.polyglot.MemoryMappedReader) -> list[str]:
    board = chess.Board()
    words = []
    for _ in range(PLIES):
        entries = list(book.find_all(board))
        if entries:
            move = chance.choices(entries, [entry.weight for entry in entries])[0].move
        else:
            moves = list(board.legal_moves)
            if not moves:
                break
            move = chance.choice(moves)
        words.append(board.san(move))
        board.push(move)
    return words


def main(arguments: argparse.Namespace) -> int:
    """Generate, build and report. Return 1 if the number of damaged games is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        pgn = arguments.pgn or Path(folder) / "games.pgn"
        damaged = None
        if not pgn.exists():
            with pgn.open("w", encoding="utf-8") as file:
                damaged = write_games(file, arguments.games, seed=1)
        command = [sys.executable, "-m", "kempelen.cli", "book", "build", str(pgn)]
        command += ["-o", str(Path(folder) / "book.bin"), "--min-games", "1", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as build:
            assert build.stdout
            found = json.loads(build.stdout.read())
            build.wait()
        size = pgn.stat().st_size
    took, peak = _used()
    games = found["games"] + found["games left out"] + found["games damaged"]
    row = (games, found["games damaged"], found["moves"], size / 1e6, games / took, peak)
    columns = ("games", "damaged", "moves kept", "MB", "games/s (CPU)", "peak MB")
    show("book from games", columns, [row], arguments.json)
    return 0 if damaged in (None, found["games damaged"]) else 1


def _used() -> tuple[float, float]:
    """Return the CPU seconds and the peak memory in MB of the finished child (POSIX)."""
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--games", type=int, default=50_000)
    options.add_argument("--pgn", type=Path, help="generate FILE, or use it if it exists")
    sys.exit(main(options.parse_args()))
