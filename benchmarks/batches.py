"""Positions per second that a user's network evaluates, for several batch sizes.

    python benchmarks/batches.py [--sizes 1,16,256] [--neurons 256] [--playouts 5000] [--json FILE]

The network has two NumPy layers with random weights, and outputs values and priors. Monte Carlo
tree search of chess evaluates the leaves of its tree in batches. The search and NumPy each use one
thread. Every batch size searches the same positions with the same number of playouts. Times are CPU
seconds, so that other load on the machine matters little.
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
    """Return a random network: 768 inputs, one hidden layer, a value and 4096 moves."""
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
    """Return the evaluated positions per CPU second, and the mean batch size."""
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
    arguments.add_argument(
        "--sizes", default="1,16,256", help="batch sizes, separated by commas (default: 1,16,256)"
    )
    arguments.add_argument(
        "--neurons", type=int, default=256, help="neurons in the hidden layer (default: 256)"
    )
    arguments.add_argument(
        "--playouts", type=int, default=5_000, help="playouts per search (default: 5000)"
    )
    chosen = arguments.parse_args()
    if BLAS_THREADS_VARIABLE not in os.environ:
        os.execve(
            sys.executable, [sys.executable, *sys.argv], os.environ | {BLAS_THREADS_VARIABLE: "1"}
        )
    judge = network(chosen.neurons)
    speed(judge, 16, 100)  # warm up: compile and load
    rows = []
    for size in map(int, chosen.sizes.split(",")):
        positions, mean = speed(judge, size, chosen.playouts)
        rows.append((size, round(positions), mean))
    show("Positions a second", ("batch", "positions a second", "mean batch"), rows, chosen.json)


if __name__ == "__main__":
    main()
