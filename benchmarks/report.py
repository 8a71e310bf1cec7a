"""Shared code of all benchmarks: the engine command, options, and result tables."""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chess
import chess.engine
from child_processes import end_in_order
from rich.console import Console
from rich.table import Table

KEMPELEN = [sys.executable, "-m", "kempelen.cli", "uci"]
POSITIONS = (
    chess.STARTING_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
)


def stockfish() -> str | None:
    """Return the path of Stockfish from Debian's games folder or the PATH, or None."""
    return shutil.which("stockfish") or shutil.which("/usr/games/stockfish")


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that all benchmarks share.

    Also makes SIGTERM a normal exit, which ends the benchmark's child processes.
    """
    end_in_order()
    result = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    result.add_argument(
        "--json", type=Path, metavar="FILE", help="write the results to FILE as JSON"
    )
    return result


def show(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], file: Path | None
) -> None:
    """Print a table, and write it to `file` as a list of JSON objects if a file is given."""
    table = Table(title=title)
    for column in columns:
        table.add_column(column, justify="left" if column == columns[0] else "right")
    for row in rows:
        table.add_row(
            *(
                f"{v:,.3g}" if isinstance(v, float) else f"{v:,}" if isinstance(v, int) else str(v)
                for v in row
            )
        )
    Console(width=max(100, Console().width)).print(table)
    if file is not None:
        records = [dict(zip(columns, row, strict=True)) for row in rows]
        file.write_text(json.dumps({"title": title, "rows": records}, indent=1) + "\n")


def nodes_a_second(
    command: list[str] | str, options: dict[str, Any], fen: str, seconds: float
) -> float:
    """Return the nodes per second of a UCI engine's search of one position."""
    with chess.engine.SimpleEngine.popen_uci(command, timeout=60) as engine:
        engine.configure(options)
        engine.ping()
        info = engine.analyse(chess.Board(fen), chess.engine.Limit(time=seconds))
    return info["nodes"] / info["time"]
