"""Nodes per second of the chess search with one and two threads, compared with other programs.

    python benchmarks/nodes.py --seconds 5
    python benchmarks/nodes.py --evaluation handcrafted --beside FOLDER --runs 3

The programs take turns on each position. Figures are means over the positions.
"""

import argparse

import chess
import chess.engine
from harness import STOCKFISH, Program, compare, comparison_parser

from kempelen.console.terminal import load_kernels

POSITIONS = (
    chess.STARTING_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
)


def speed(program: Program, fen: str, threads: int, options: argparse.Namespace) -> float:
    """Return the million nodes per second of a search of one position."""
    settings = {"Hash": options.hash, "Threads": threads}
    if options.evaluation and program.name != STOCKFISH:
        settings["Evaluation"] = options.evaluation
    with chess.engine.SimpleEngine.popen_uci(
        list(program.command), timeout=60, cwd=program.folder
    ) as engine:
        engine.configure(settings)
        engine.ping()
        info = engine.analyse(chess.Board(fen), chess.engine.Limit(time=options.seconds))
    return info["nodes"] / info["time"] / 1e6


def main() -> None:
    """Measure and compare."""
    arguments = comparison_parser(__doc__, runs=1)
    arguments.add_argument("--seconds", type=float, default=5.0, help="seconds per search")
    arguments.add_argument("--hash", type=int, default=64, help="hash size in MB of each engine")
    arguments.add_argument("--evaluation", help="our evaluation, as in the UCI option")
    options = arguments.parse_args()
    load_kernels()

    def measure(program: Program, fen: str) -> dict[str, float]:
        one, two = (speed(program, fen, threads, options) for threads in (1, 2))
        return {"one thread": one, "two threads": two, "two threads / one thread": two / one}

    compare("million nodes a second", options, measure, POSITIONS)


if __name__ == "__main__":
    main()
