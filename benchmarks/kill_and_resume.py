"""Compare a match that is repeatedly killed with SIGKILL and resumed with an uninterrupted one.

Run as `python benchmarks/kill_and_resume.py [--games N] [--kills N]`. At fixed nodes, both matches
must consist of the same games. The benchmark prints the comparison, and fails if anything differs.
"""

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import chess.pgn
from child_processes import end_in_order, spawn


def command(folder: Path, ledger: str, arguments: argparse.Namespace) -> list[str]:
    """Return the command that plays or continues a match."""
    stockfish = shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")
    if stockfish is None:
        sys.exit("stockfish is needed: run scripts/install-debian-packages")
    engine = f"cmd={stockfish},option.Hash=1"
    players = ["--engine", f"{engine},name=A", "--engine", f"{engine},name=B,nodes=600"]
    records = ["--ledger", str(folder / ledger), "--pgn", str(folder / f"{ledger}.pgn")]
    return [
        *(sys.executable, "-m", "kempelen.cli", "match", "--json", "--resume", "--seed", "7"),
        *("--nodes", "1000", "--games", str(arguments.games), "--concurrency", "2"),
        *players,
        *records,
    ]


def games_in(path: Path) -> dict[str, str]:
    """Return each game's moves by its round. A repeated round is an error."""
    games: dict[str, str] = {}
    with path.open() as file:
        while (game := chess.pgn.read_game(file)) is not None:
            number = game.headers["Round"]
            if number in games:
                sys.exit(f"game {number} is there twice")
            games[number] = " ".join(move.uci() for move in game.mainline_moves())
    return games


def main() -> None:
    """Play both matches and compare them."""
    end_in_order()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    generator = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.monotonic()
        straight = _finish(command(folder, "straight", arguments))
        duration = time.monotonic() - began
        print(f"uninterrupted: {straight['played']} games in {duration:.0f} s")
        for kill in range(arguments.kills):
            run = spawn(
                command(folder, "killed", arguments),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            time.sleep(1 + generator.uniform(0, 2 * duration / (arguments.kills + 2)))
            run.send_signal(signal.SIGKILL)
            run.wait()
            print(f"kill {kill + 1}")
        killed = _finish(command(folder, "killed", arguments))
        same_games = games_in(folder / "killed.pgn") == games_in(folder / "straight.pgn")
        same = {key: killed[key] == straight[key] for key in ("rows", "comparison", "played")}
        print(f"resumed: {killed['played']} games; same games: {same_games}; same: {same}")
        if not same_games or not all(same.values()) or killed["played"] != arguments.games:
            sys.exit(1)


def _finish(line: list[str]) -> dict[str, object]:
    run = subprocess.run(line, capture_output=True, text=True, check=True)
    summary: dict[str, object] = json.loads(run.stdout)["summary"]
    return summary


if __name__ == "__main__":
    main()
