"""Compare runs that are repeatedly killed with SIGKILL and resumed with uninterrupted ones.

    python benchmarks/kill_and_resume.py --games 200
    python benchmarks/kill_and_resume.py selfplay --positions 50000

Fails if a match at fixed nodes has other games or another result, or if a self-play file is not
byte-identical.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from harness import KEMPELEN, parser, show_figures, spawn, stockfish


def match(path: Path, options: argparse.Namespace) -> list[str]:
    """Return the command that plays or continues a match."""
    engine = f"cmd={stockfish(required=True)},option.Hash=1"
    return [
        *(*KEMPELEN, "match", "--json", "--resume", "--seed", "7", "--nodes", "1000"),
        *("--engine", f"{engine},name=A", "--engine", f"{engine},name=B,nodes=600"),
        *("--games", str(options.games), "--concurrency", "2"),
        *("--ledger", f"{path}.sqlite", "--records", f"{path}.json"),
    ]


def match_result(path: Path, output: bytes) -> dict[str, Any]:
    """Return what must not differ: the summary, and the moves of each game."""
    summary = json.loads(output)["summary"]
    records = map(json.loads, Path(f"{path}.json").read_text("utf-8").splitlines())
    games = sorted(
        (record["pair"], record["game"], [move["move"] for move in record["moves"]])
        for record in records
    )
    return {"games": games} | {key: summary[key] for key in ("rows", "comparison", "played")}


def selfplay(path: Path, options: argparse.Namespace) -> list[str]:
    """Return the command that plays, or continues, until the file has enough positions."""
    return [
        *(*KEMPELEN, "train", "selfplay", str(path), "--json"),
        *("--positions", str(options.positions), "--nodes", "1000"),
    ]


def selfplay_result(path: Path, _: bytes) -> dict[str, Any]:
    return {"bytes of the file": path.read_bytes()}


RUNS = {"match": (match, match_result), "selfplay": (selfplay, selfplay_result)}


def main() -> int:
    """Do both runs and compare them."""
    arguments = parser(__doc__)
    arguments.add_argument("run", nargs="?", choices=RUNS, default="match")
    arguments.add_argument("--games", type=int, default=200, help="games of the match")
    arguments.add_argument("--positions", type=int, default=100_000, help="positions of self-play")
    arguments.add_argument("--kills", type=int, default=10)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    command, result = RUNS[options.run]
    generator = random.Random(options.seed)

    def finish(path: Path) -> dict[str, Any]:
        done = subprocess.run(command(path, options), stdout=subprocess.PIPE, check=True)
        return result(path, done.stdout)

    with tempfile.TemporaryDirectory() as folder:
        straight_path, killed_path = Path(folder, "straight"), Path(folder, "killed")
        began = time.monotonic()
        straight = finish(straight_path)
        duration = time.monotonic() - began
        print(f"uninterrupted: {duration:.0f} s", flush=True)
        for number in range(options.kills):
            run = spawn(
                command(killed_path, options), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            time.sleep(1 + generator.uniform(0, 2 * duration / (options.kills + 2)))
            run.kill()
            run.wait()
            print(f"kill {number + 1}", flush=True)
        killed = finish(killed_path)
    same = {key: killed[key] == straight[key] for key in straight}
    show_figures(f"{options.run}, {options.kills} kills: the same", same, options.json)
    return 0 if all(same.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
