"""A match on a Dask cluster whose workers are killed and frozen during the match.

Plays the same match with fixed nodes twice: on one machine, and with `--cluster` on two workers.
During the second match, one worker is killed and the other is stopped, and a third worker joins.
Passes (exit status 0) if both matches consist of exactly the requested games, with the same moves.
Unix only.

    python benchmarks/cluster.py --pairs 60
"""

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import chess.pgn
from child_processes import spawn
from report import parser, show, stockfish

QUIET: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def start(kind: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a Dask scheduler or worker on the loopback address."""
    line = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--host", "127.0.0.1"]
    return spawn([*line, "--no-dashboard", *arguments], **QUIET)


def start_worker(address: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start a worker that plays one game at a time."""
    return start(
        "worker", address, "--nthreads", "1", "--no-nanny", "--local-directory", str(folder)
    )


def match(folder: Path, name: str, games: int, *more: str) -> list[str]:
    """Return the command of the match, which writes its files under `name`."""
    engine = stockfish()
    if engine is None:
        raise SystemExit("stockfish is not installed: run scripts/install-debian-packages")
    players = [
        f"cmd={engine},option.Hash=1,name=strong,nodes=2000",
        f"cmd={engine},option.Hash=1,name=weak",
    ]
    command = [sys.executable, "-m", "kempelen.cli", "match", "--json", "--games", str(games)]
    for player in players:
        command += ["--engine", player]
    records = ["--ledger", str(folder / f"{name}.sqlite"), "--pgn", str(folder / f"{name}.pgn")]
    return [
        *command,
        "--nodes",
        "1000",
        "--seed",
        "1",
        "--maxmoves",
        "60",
        "--resume",
        *records,
        *more,
    ]


def finished_games(ledger: Path) -> int:
    """Return the number of games in a ledger."""
    if not ledger.exists():
        return 0
    try:
        with sqlite3.connect(ledger) as connection:
            return int(connection.execute("SELECT count(*) FROM game").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def wait_for_games(ledger: Path, games: int, running: subprocess.Popen[bytes]) -> None:
    """Wait until the ledger contains `games` games or the match has ended."""
    while finished_games(ledger) < games and running.poll() is None:
        time.sleep(0.1)


def games_of(file: Path) -> list[tuple[str, ...]]:
    """Return the round, result and moves of each game, ordered by round."""
    found = []
    with file.open() as pgn:
        while game := chess.pgn.read_game(pgn):
            moves = (move.uci() for move in game.mainline_moves())
            found.append((game.headers["Round"], game.headers["Result"], *moves))
    return sorted(found)


def end(processes: Iterable[subprocess.Popen[bytes]]) -> None:
    """Kill the processes, including stopped ones, and wait for them."""
    for process in processes:
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()


def main() -> int:
    """Play both matches and compare."""
    arguments = parser(__doc__)
    arguments.add_argument("--pairs", type=int, default=60)
    options = arguments.parse_args()
    games = 2 * options.pairs
    os.environ["DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__GIL__ENABLED"] = "0"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        address = "tcp://127.0.0.1:18786"
        cluster = [start("scheduler", "--port", "18786")]
        try:
            time.sleep(3)
            cluster += [start_worker(address, folder) for _ in range(2)]
            time.sleep(3)
            began = time.perf_counter()
            command = match(folder, "cluster", games, "--cluster", address)
            running = spawn(command, stdout=subprocess.DEVNULL)
            ledger = folder / "cluster.sqlite"
            wait_for_games(ledger, games // 4, running)
            cluster[1].kill()
            cluster.append(start_worker(address, folder))
            wait_for_games(ledger, games // 2, running)
            cluster[2].send_signal(signal.SIGSTOP)
            status = running.wait()
            clustered = time.perf_counter() - began
        finally:
            end(cluster)
        began = time.perf_counter()
        alone_status = subprocess.run(
            match(folder, "alone", games, "--concurrency", "2"),
            stdout=subprocess.DEVNULL,
            check=False,
        ).returncode
        alone = time.perf_counter() - began
        first, second = games_of(folder / "cluster.pgn"), games_of(folder / "alone.pgn")
    rows = [
        ("two workers, one killed, one stopped", len(first), status, round(clustered, 1)),
        ("one machine", len(second), alone_status, round(alone, 1)),
        ("the same games", sum(a == b for a, b in zip(first, second, strict=False)), "", ""),
    ]
    show("a match on a cluster", ("run", "games", "exit status", "seconds"), rows, options.json)
    return 0 if status == alone_status == 0 and first == second and len(first) == games else 1


if __name__ == "__main__":
    raise SystemExit(main())
