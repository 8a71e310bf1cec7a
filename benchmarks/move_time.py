"""Accuracy of `go movetime`, measured as a GUI sees it.

Passes (exit status 0) if 99.9% of the answers arrive within the move time plus Move Overhead, and
none more than 50 ms later.

    python benchmarks/move_time.py --moves 1000 --milliseconds 20
"""

import argparse
import json
import random
import subprocess
import sys
import time
from typing import IO

import chess

OVERHEAD = 10.0
MAX_LATENCY_MS = 50.0


def measure(moves: int, milliseconds: int) -> list[float]:
    """Play random games; return the response time of each move in milliseconds."""
    rng = random.Random(1)
    board = chess.Board()
    with subprocess.Popen(
        [sys.executable, "-m", "kempelen.cli", "uci"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as engine:
        assert engine.stdin
        assert engine.stdout
        engine.stdin.write("uci\nsetoption name OwnBook value false\nisready\n")
        wait_for(engine.stdout, "readyok")
        took = []
        for _ in range(moves):
            line = " ".join(move.uci() for move in board.move_stack)
            engine.stdin.write(f"position startpos moves {line}\n")
            began = time.perf_counter()
            engine.stdin.write(f"go movetime {milliseconds}\n")
            wait_for(engine.stdout, "bestmove")
            took.append((time.perf_counter() - began) * 1e3)
            board.push(rng.choice(list(board.legal_moves)))
            if board.is_game_over():
                board.reset()
        engine.stdin.write("quit\n")
    return took


def wait_for(output: IO[str], start: str) -> None:
    """Read up to a line that starts with `start`."""
    for line in output:
        if line.startswith(start):
            return
    raise SystemExit(f"the engine ended before it said {start}")


def main() -> int:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moves", type=int, default=1000)
    parser.add_argument("--milliseconds", type=int, default=20)
    parser.add_argument(
        "--margin",
        type=int,
        default=0,
        help="additional tolerance in milliseconds, for a busy machine",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    took = sorted(measure(arguments.moves, arguments.milliseconds))
    allowed = arguments.milliseconds + OVERHEAD + arguments.margin
    found = {
        "moves": len(took),
        "median_ms": round(took[len(took) // 2], 2),
        "worst_ms": round(took[-1], 2),
        "in_time_percent": round(100 * sum(each <= allowed for each in took) / len(took), 2),
    }
    if arguments.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:16} {value}")
    return 0 if found["in_time_percent"] >= 99.9 and took[-1] <= allowed + MAX_LATENCY_MS else 1


if __name__ == "__main__":
    sys.exit(main())
