"""Nodes per second, compared with Stockfish on one thread, and of two threads compared with one.

python benchmarks/nodes.py --seconds 5
"""

from report import KEMPELEN, POSITIONS, nodes_a_second, parser, show, stockfish

from kempelen.console.terminal import load_kernels


def main() -> int:
    """Measure and compare. The engines take turns on each position."""
    arguments = parser(__doc__)
    arguments.add_argument("--seconds", type=float, default=5.0, help="seconds per search")
    arguments.add_argument("--hash", type=int, default=64, help="hash size in MB of each engine")
    arguments.add_argument(
        "--evaluation",
        help="evaluation of our engine, as in the UCI option (default: the engine's default)",
    )
    options = arguments.parse_args()
    load_kernels()
    other = stockfish()
    rows = []
    for fen in POSITIONS:
        settings = {"Hash": options.hash, "Threads": 1}
        own = settings | ({"Evaluation": options.evaluation} if options.evaluation else {})
        one = nodes_a_second(KEMPELEN, own, fen, options.seconds)
        native = nodes_a_second(other, settings, fen, options.seconds) if other else float("nan")
        two = nodes_a_second(KEMPELEN, own | {"Threads": 2}, fen, options.seconds)
        rows.append(
            (
                fen,
                round(one / 1e6, 2),
                round(native / 1e6, 2),
                round(one / native, 2),
                round(two / 1e6, 2),
                round(two / one, 2),
            )
        )
    means = [round(sum(row[column] for row in rows) / len(rows), 2) for column in range(1, 6)]
    columns = ("position", "M/s", "Stockfish M/s", "x Stockfish", "2 threads M/s", "x 1 thread")
    show("nodes a second", columns, [*rows, ("mean", *means)], options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
