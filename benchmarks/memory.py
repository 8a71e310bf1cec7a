"""Peak memory of a UCI engine that searches for a while, by size of its table (Linux).

python benchmarks/memory.py
"""

import time
from pathlib import Path

import chess
import chess.engine
from report import KEMPELEN, parser, show, stockfish


def peak_megabytes(command: list[str], megabytes: int, threads: int, seconds: float) -> float:
    """Return the most memory that the engine ever held, children not counted."""
    with chess.engine.SimpleEngine.popen_uci(command, timeout=60) as engine:
        engine.configure({"Hash": megabytes, "Threads": threads})
        engine.ping()
        engine.analyse(chess.Board(), chess.engine.Limit(time=seconds))
        time.sleep(0.1)
        pid = engine.transport.get_pid()  # type: ignore[attr-defined]
        status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def main() -> int:
    """Measure and compare."""
    arguments = parser(__doc__)
    arguments.add_argument("--seconds", type=float, default=3.0, help="for each search")
    options = arguments.parse_args()
    other = stockfish()
    rows = []
    for megabytes, threads in ((1, 1), (16, 1), (16, 2), (256, 1)):
        ours = peak_megabytes(KEMPELEN, megabytes, threads, options.seconds)
        theirs = (
            peak_megabytes([other], megabytes, threads, options.seconds) if other else float("nan")
        )
        rows.append((f"Hash {megabytes}, Threads {threads}", round(ours), round(theirs)))
    show("peak memory, MB", ("settings", "Kempelen", "Stockfish"), rows, options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
