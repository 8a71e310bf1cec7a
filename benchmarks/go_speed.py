"""Go playouts per second, relative to Stockfish: light, with knowledge, and in the search.

The targets apply to a core on which Stockfish's `bench 16 1 12` reaches a million nodes per second.
The benchmark runs Stockfish between the measurements, and scales the targets by its median speed.

    python benchmarks/go_speed.py --seconds 5
"""

import re
import statistics
import subprocess
import threading
import time

from report import parser, show, stockfish

from agent.games.go import Go
from agent.go.parts import GO
from agent.limits import Limits
from kempelen.console.terminal import load_kernels

# Target in playouts per second by type, board size and threads.
TARGETS = {
    ("light", 9, 1): 60_000,
    ("with knowledge", 9, 1): 22_000,
    ("in the search", 9, 1): 18_000,
    ("light", 19, 1): 11_000,
    ("in the search", 19, 1): 4_000,
}
# Target speed of two threads, relative to one thread.
TWO_THREADS = 1.8
BATCH = 100
MEGABYTES = 512


def playouts(size: int, seconds: float, heavy: bool) -> float:
    """Return the playouts per second from the empty board, without a search."""
    from agent.go.kernel_board import KernelBoard
    from agent.go.playout import run_playouts

    board = KernelBoard()
    board.load(Go(size))
    run_playouts(board.worker, BATCH, heavy)
    began, done = time.perf_counter(), 0
    while (taken := time.perf_counter() - began) < seconds:
        run_playouts(board.worker, BATCH, heavy)
        done += BATCH
    return done / taken


def searching(size: int, threads: int, seconds: float) -> float:
    """Return the playouts per second of a search of the empty board."""
    from agent.go.search import GoSearch
    from agent.kernel.backend import SearchConfig

    search = GoSearch(SearchConfig(threads=threads, megabytes=MEGABYTES, seed=1))
    list(search.search(Go(size), Limits(nodes=BATCH)))
    search.new_game()
    threading.Timer(seconds, search.stop).start()
    began = time.perf_counter()
    *_, last = search.search(Go(size), Limits())
    return last.nodes / (time.perf_counter() - began)


def nodes_a_second(program: str) -> float:
    """Return the nodes per second of Stockfish's own benchmark."""
    done = subprocess.run(
        [program, "bench", "16", "1", "12"], capture_output=True, text=True, check=True
    )
    found = re.search(r"Nodes/second\s*:\s*(\d+)", done.stderr)
    assert found is not None
    return float(found[1])


def main() -> int:
    """Run the measurements, with Stockfish before, between and after them."""
    arguments = parser(__doc__)
    arguments.add_argument("--seconds", type=float, default=5.0, help="seconds per measurement")
    arguments.add_argument("--sizes", type=int, nargs="+", default=[9, 19])
    options = arguments.parse_args()
    load_kernels(GO)
    native, nodes = stockfish(), []
    found: dict[tuple[str, int, int], float] = {}
    for size in options.sizes:
        if native:
            nodes.append(nodes_a_second(native))
        for kind in ("light", "with knowledge"):
            found[kind, size, 1] = playouts(size, options.seconds, kind != "light")
        for threads in (1, 2):
            speed = searching(size, threads, options.seconds)
            found["in the search", size, threads] = speed
    if native:
        nodes.append(nodes_a_second(native))
    scale = statistics.median(nodes) / 1e6 if nodes else float("nan")
    rows = []
    for (kind, size, threads), speed in found.items():
        aim = TARGETS.get((kind, size, threads), float("nan")) * scale
        if threads == 2:
            aim = TWO_THREADS * found[kind, size, 1]
        rows.append((f"{kind}, {size}x{size}", threads, round(speed), round(aim) if aim == aim
                     else "", round(speed / aim, 2) if aim else ""))  # fmt: skip
    columns = ("playouts a second", "threads", "figure", "aim here", "x aim")
    show(f"Go beside Stockfish at {scale:.2f} million nodes a second", columns, rows, options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
