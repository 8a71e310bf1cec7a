"""Measurement of the speed of an evaluation that is called from compiled code."""

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

# The batch size grows until a batch takes this long, so that the overhead is negligible.
_BATCH_S = 0.001

_int64 = numba.int64


@entry_point(_int64(Worker, _int64))
def _call(worker: Worker, count: int) -> int:
    """Return the sum of `count` evaluations of the root, so that the compiler keeps the calls."""
    total = 0
    for _ in range(count):
        total += call_evaluator(worker.evaluate, worker, 0)
        if worker.stop:
            break
    return total


def calls_per_second(
    evaluation: Evaluation, boards: Sequence[chess.Board], seconds: float
) -> float:
    """Measure evaluations per second for `seconds`. Raise `EvaluationError` if one fails."""
    game = KernelBoard()

    def stop() -> None:
        game.worker.stop = 1

    evaluator = make_evaluator(evaluation, False, stop)
    evaluator.attach(game)
    calls, batch, spent, board_index = 0, 1, 0.0, 0
    while spent < seconds:
        game.load(boards[board_index % len(boards)])
        board_index += 1
        began = time.perf_counter()
        _call(game.worker, batch)
        took = time.perf_counter() - began
        if error := evaluator.pop_error([game]):
            raise error
        calls, spent = calls + batch, spent + took
        if took < _BATCH_S:
            batch *= 2
    return calls / spent
