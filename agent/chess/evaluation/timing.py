"""How fast an evaluation is: called from compiled code, as the search does, and nothing else.

Nothing that the engine needs to play imports this module: it is compiled when it is first used.
"""

import time
from collections.abc import Sequence

import chess
import numba

from agent.chess.board.kernel_board import KernelBoard
from agent.chess.board.records import Worker
from agent.chess.evaluation.evaluators import make_evaluator
from agent.evaluation_types import Evaluation
from agent.kernel.decorators import entry_point
from agent.kernel.intrinsics import call_evaluator

# As many calls in a row as take so long, in seconds: what surrounds them counts for nothing then.
_BATCH = 0.001

_int64 = numba.int64


@entry_point(_int64(Worker, _int64))
def _call(worker: Worker, times: int) -> int:
    """Evaluate the root position so often; return the sum, so that no call can be left out."""
    total = 0
    for _ in range(times):
        total += call_evaluator(worker.evaluate, worker, 0)
        if worker.stop:
            break
    return total


def calls_per_second(
    evaluation: Evaluation, boards: Sequence[chess.Board], seconds: float
) -> float:
    """Return how often an evaluation can be called, over these boards in turn for so long.

    Raises EvaluationError if it cannot be compiled, or fails.
    """
    game = KernelBoard()

    def stop() -> None:
        game.worker.stop = 1

    evaluator = make_evaluator(evaluation, False, stop)
    evaluator.attach(game)
    calls, batch, spent, turn = 0, 1, 0.0, 0
    while spent < seconds:
        game.load(boards[turn % len(boards)])
        turn += 1
        began = time.perf_counter()
        _call(game.worker, batch)
        took = time.perf_counter() - began
        if error := evaluator.pop_error([game]):
            raise error
        calls, spent = calls + batch, spent + took
        if took < _BATCH:
            batch *= 2
    return calls / spent
