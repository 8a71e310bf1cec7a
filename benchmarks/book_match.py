r"""The strength of the opening book: a match of the engine with its book against itself without.

    python benchmarks/book_match.py --games 300 --tc 2+0.02 --ledger book.sqlite

Each game begins from the start position, because the built-in openings of `kempelen match` would
leave the book at once. To continue after an interruption, run the same command with the same
ledger. The time saved is the difference of the clocks after the last book move: that of the side
with the book minus that of the other side.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import chess
from report import parser, show

from kempelen.console.settings_codec import decode
from kempelen.match.records.game_record import GameRecord

BOOK, BARE = "book", "bare"


def play(arguments: argparse.Namespace, folder: Path, ledger: Path) -> dict[str, Any]:
    """Play the match, or the remaining games; return its summary."""
    start = folder / "start.epd"
    start.write_text(chess.Board().epd(hmvc=0, fmvn=1) + "\n")
    engine = f"cmd={sys.executable},args=-m kempelen.cli uci,option.Hash=16"
    command = [sys.executable, "-m", "kempelen.cli", "match", "--name", "book", "--json"]
    command += ["--engine", f"{engine},name={BOOK},option.OwnBook=true"]
    command += ["--engine", f"{engine},name={BARE},option.OwnBook=false"]
    command += ["--tc", arguments.tc, "--games", str(arguments.games), "--openings", start.name]
    command += ["--concurrency", str(arguments.concurrency)]
    command += ["--ledger", str(ledger), "--resume"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=folder, check=True)
    summary: dict[str, Any] = json.loads(done.stdout)["summary"]
    return summary


def book_moves(record: GameRecord) -> tuple[int, float]:
    """Return the number of book moves in a game, and the seconds that they saved."""
    side = 0 if record.white == BOOK else 1
    moves = record.moves[side::2]
    known = next((place for place, move in enumerate(moves) if move.nodes), len(moves))
    others = record.moves[1 - side :: 2][:known]
    if not known or not others:
        return known, 0.0
    left, other = moves[min(known, len(others)) - 1].clock, others[-1].clock
    return known, (left or 0.0) - (other or 0.0)


def main(arguments: argparse.Namespace) -> int:
    """Play and report."""
    with tempfile.TemporaryDirectory() as name:
        ledger = (arguments.ledger or Path(name) / "ledger.sqlite").absolute()
        summary = play(arguments, Path(name), ledger)
        records = _records(ledger)
    comparison = summary["comparison"]
    losses, draws, wins = comparison["games"]
    best = comparison["estimate"]
    found = [book_moves(record) for record in records]
    row = (
        f"+{wins} ={draws} -{losses}",
        len(records),
        len({record.digest for record in records}),
        _elo(best),
        sum(count for count, _ in found) / len(found),
        sum(saved for _, saved in found) / len(found),
    )
    columns = ("with the book", "games", "distinct", "Elo", "book moves a game", "seconds saved")
    show(f"the book at {arguments.tc}", columns, [row], arguments.json)
    return 0


def _elo(best: dict[str, dict[str, float]] | None) -> str:
    return f"{best['elo']['value']:+.0f} +- {best['elo']['error']:.0f}" if best else "-"


def _records(path: Path) -> list[GameRecord]:
    with sqlite3.connect(path) as database:
        rows = database.execute("SELECT record FROM game").fetchall()
    return [decode(GameRecord, json.loads(text)) for (text,) in rows]


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--games", type=int, default=300)
    options.add_argument("--tc", default="2+0.02")
    options.add_argument("--concurrency", type=int, default=2)
    options.add_argument("--ledger", type=Path, help="store the games in FILE, or continue with it")
    sys.exit(main(options.parse_args()))
