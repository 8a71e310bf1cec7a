"""Speed of rescoring: positions per second, and CPU time of Kempelen and of the engine.

    python benchmarks/rescoring.py --positions 5000

Stockfish scores positions of self-play or of a file, as `kempelen train data rescore` does, in one
process.
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

from report import parser, show, stockfish

from agent.chess.search.selfplay_settings import SelfPlaySettings
from kempelen.training.dataset import Dataset
from kempelen.training.rescoring import Rescorer, RescoreTask
from kempelen.training.selfplay import SelfPlayPlan, generate


def children() -> float:
    """Return the CPU seconds of terminated child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(source: Path, arguments: argparse.Namespace) -> dict[str, float]:
    """Score games until there are enough positions, and measure. Excludes the engine's start."""
    task = RescoreTask(source, arguments.engine, arguments.nodes)
    before = children()
    task.start().close()
    starting = children() - before
    with Dataset(source) as dataset:
        numbers = dataset.game_numbers()
    rescorer = Rescorer(task)
    before = children()
    began, used = time.perf_counter(), time.process_time()
    scored = 0
    for number in numbers:
        scored += len(rescorer.play(number))
        if scored >= arguments.positions:
            break
    seconds, ours = time.perf_counter() - began, time.process_time() - used
    rescorer.engine.close()
    theirs = children() - before - starting
    return {
        "positions": scored,
        "positions a second": round(scored / seconds, 1),
        "ms a position": round(1000 * seconds / scored, 3),
        "of ours": round(1000 * ours / scored, 3),
        "of the engine": round(1000 * theirs / scored, 3),
    }


def main() -> None:
    """Measure and print the table."""
    options = parser(__doc__)
    options.add_argument("--source", type=Path, help="file of positions (default: self-play)")
    options.add_argument("--positions", type=int, default=5000)
    options.add_argument("--nodes", type=int, default=400)
    options.add_argument("--engine", default=stockfish(), help="UCI engine (default: Stockfish)")
    arguments = options.parse_args()
    if arguments.engine is None:
        options.error("Stockfish is not installed: name an engine by --engine")
    with tempfile.TemporaryDirectory() as folder:
        source = arguments.source or Path(folder) / "positions"
        if arguments.source is None:
            plan = SelfPlayPlan(SelfPlaySettings(nodes=100))
            list(generate(source, plan, "rescoring", arguments.positions, 1))
        found = measure(source, arguments)
    title = f"{arguments.nodes} nodes a position; milliseconds of processor time"
    show(title, list(found), [list(found.values())], arguments.json)


if __name__ == "__main__":
    main()
