"""How many positions a second a user's network judges, by how many it judges at once.

    python benchmarks/batches.py [--sizes 1,16,256] [--neurons 256] [--playouts 5000] [--json FILE]

The network is two layers in NumPy, of random weights, which gives values and priors. Monte Carlo
tree search of chess asks it about the leaves of its tree, on one thread, NumPy's too; each size
searches the same positions, to the same number of playouts. Seconds are the processor's, so that
what else the machine does matters little.
"""

import os
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import chess
import numpy as np
from report import POSITIONS, parser, show

from agent.chess.search.mcts_search import MctsSearch
from agent.evaluation import Evaluation
from agent.games.chess_batch import ChessBatch
from agent.limits import Limits
from kempelen.cli import BLAS_THREADS_VARIABLE

MEGABYTES = 256


def network(neurons: int, seed: int = 1) -> Callable[[ChessBatch], Any]:
    """Make a network of random weights: 768 inputs, so many neurons, a value and 4096 moves."""
    generator = np.random.default_rng(seed)

    def layer(*shape: int) -> Any:
        return generator.normal(0, shape[0] ** -0.5, shape).astype(np.float32)

    first, values, moves = layer(768, neurons), layer(neurons), layer(neurons, 4096)

    def judge(batch: ChessBatch) -> Any:
        hidden = np.maximum(batch.planes().reshape(len(batch), 768) @ first, 0)
        squares = np.take_along_axis(hidden @ moves, batch.moves % 4096, axis=1)
        return 100 * hidden @ values, np.exp(squares)

    return judge


def speed(judge: Callable[[ChessBatch], Any], size: int, playouts: int) -> tuple[float, float]:
    """Return the positions judged a second, and how many were judged at once in the mean."""
    sizes: list[int] = []

    def counted(batch: ChessBatch) -> Any:
        sizes.append(len(batch))
        return judge(batch)

    evaluation = Evaluation("network", python=counted, batch=size)
    search = MctsSearch(MEGABYTES, evaluation=evaluation)
    seconds = 0.0
    for fen in POSITIONS:
        search.new_game()
        search.clear_stop()
        began = process_time()
        for _ in search.search(chess.Board(fen), Limits(nodes=playouts)):
            pass
        seconds += process_time() - began
    return sum(sizes) / seconds, sum(sizes) / len(sizes)


def main() -> None:
    """Measure and print."""
    arguments = parser(__doc__)
    arguments.add_argument("--sizes", default="1,16,256", help="of batches (1,16,256)")
    arguments.add_argument("--neurons", type=int, default=256, help="(256)")
    arguments.add_argument("--playouts", type=int, default=5_000, help="of each search (5000)")
    chosen = arguments.parse_args()
    if BLAS_THREADS_VARIABLE not in os.environ:
        os.execve(
            sys.executable, [sys.executable, *sys.argv], os.environ | {BLAS_THREADS_VARIABLE: "1"}
        )
    judge = network(chosen.neurons)
    speed(judge, 16, 100)  # loaded
    rows = []
    for size in map(int, chosen.sizes.split(",")):
        positions, mean = speed(judge, size, chosen.playouts)
        rows.append((size, round(positions), mean))
    show("Positions a second", ("batch", "positions a second", "mean batch"), rows, chosen.json)


if __name__ == "__main__":
    main()
