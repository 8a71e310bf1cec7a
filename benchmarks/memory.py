"""Peak memory of a searching UCI engine, by hash size (Linux).

    python benchmarks/memory.py

Use --beside with a folder of other sources to compare both.
"""

import time
from pathlib import Path

import chess
import chess.engine
from report import KEMPELEN, parser, show, stockfish


def peak_megabytes(
    command: list[str], megabytes: int, threads: int, seconds: float, folder: str | None = None
) -> float:
    """Return the peak memory of the engine in MB, without its child processes.

    folder: the folder that the engine is started in.
    """
    with chess.engine.SimpleEngine.popen_uci(command, timeout=60, cwd=folder) as engine:
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
    arguments.add_argument("--seconds", type=float, default=3.0, help="seconds per search")
    arguments.add_argument(
        "--beside", metavar="FOLDER", help="folder of other sources to compare with"
    )
    options = arguments.parse_args()
    programs: list[tuple[str, list[str], str | None]] = [("Kempelen", KEMPELEN, None)]
    if options.beside:
        programs.append((f"Kempelen in {options.beside}", KEMPELEN, options.beside))
    if other := stockfish():
        programs.append(("Stockfish", [other], None))
    rows = []
    for megabytes, threads in ((1, 1), (16, 1), (16, 2), (256, 1)):
        peaks = (
            round(peak_megabytes(command, megabytes, threads, options.seconds, folder))
            for _, command, folder in programs
        )
        rows.append((f"Hash {megabytes}, Threads {threads}", *peaks))
    columns = ("settings", *(name for name, _, _ in programs))
    show("peak memory, MB", columns, rows, options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
