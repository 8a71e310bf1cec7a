"""Search speed with networks, compared with the hand-crafted evaluation.

    python benchmarks/network_speed.py [--network FILE] [--sizes N ...] [--seconds 5] [--turns 3]

Measures nodes per second on one thread. The evaluations take turns on the same positions. The
evaluation affects which nodes a search visits. Without a file, networks with random weights and
several sizes are measured.
"""

import statistics
from pathlib import Path

from random_network import random_network
from report import parser, show

from agent.chess.evaluation.nnue_format import read
from agent.chess.search.bench import nodes_per_second
from agent.evaluation import HANDCRAFTED, Evaluation

SIZES = (64, 128, 256, 512)


def speeds(evaluations: dict[str, Evaluation], seconds: float, turns: int) -> dict[str, float]:
    """Return the median nodes per second of each evaluation, measured in turns."""
    found: dict[str, list[float]] = {name: [] for name in evaluations}
    for evaluation in evaluations.values():
        nodes_per_second(0.1, evaluation)  # warm up: compile or load
    for _ in range(turns):
        for name, evaluation in evaluations.items():
            found[name].append(nodes_per_second(seconds, evaluation))
    return {name: statistics.median(values) for name, values in found.items()}


def main() -> None:
    """Measure and print."""
    arguments = parser(__doc__)
    arguments.add_argument("--network", type=Path, help="network file")
    arguments.add_argument(
        "--sizes", type=int, nargs="+", default=SIZES, help="sizes of the random networks"
    )
    arguments.add_argument(
        "--seconds", type=float, default=5.0, help="seconds per turn (default: 5)"
    )
    arguments.add_argument("--turns", type=int, default=3, help="number of turns (default: 3)")
    chosen = arguments.parse_args()
    if chosen.network:
        networks = [read(chosen.network)]
    else:
        networks = [random_network(size) for size in chosen.sizes]
    evaluations = {"hand-made": HANDCRAFTED}
    evaluations |= {
        network.shape: Evaluation(network.shape, network=network) for network in networks
    }
    found = speeds(evaluations, chosen.seconds, chosen.turns)
    rows = [(name, round(speed), speed / found["hand-made"]) for name, speed in found.items()]
    show("Nodes a second", ("evaluation", "nodes a second", "of hand-made"), rows, chosen.json)


if __name__ == "__main__":
    main()
