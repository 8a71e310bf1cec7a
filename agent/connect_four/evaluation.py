"""The game's own evaluation, compiled: what agent.games.connect_four does without search."""

from typing import Any

from numba import float64, int32

from agent.compiled.kernel import c_function, kernel
from agent.compiled.native import EVALUATOR_SIGNATURE, U64, Bits, count
from agent.compiled.scale import to_score
from agent.connect_four.records import Worker, position_at, worker_at
from agent.connect_four.rules import others_discs

score_of_value = kernel(to_score)


@kernel
def _chances_along(board: Bits, discs: Bits, others: Bits, step: Bits) -> int:
    """Sum the squared number of discs in each line of one direction that the others lack in."""
    second, third = discs >> step, discs >> step >> step
    fourth = third >> step
    pairs = board & ~others & (board & ~others) >> step
    lines = pairs & pairs >> step >> step  # by their first squares
    singles = count(discs & lines) + count(second & lines)
    singles += count(third & lines) + count(fourth & lines)
    doubles = count(discs & second & lines) + count(discs & third & lines)
    doubles += count(discs & fourth & lines) + count(second & third & lines)
    doubles += count(second & fourth & lines) + count(third & fourth & lines)
    return singles + 2 * doubles


@kernel
def chances(worker: Worker, discs: Bits, others: Bits) -> int:
    """Sum the squared number of discs in each line of four squares that the others lack in."""
    board, stride = worker.board, worker.stride
    total = _chances_along(board, discs, others, U64(1))
    total += _chances_along(board, discs, others, stride)
    total += _chances_along(board, discs, others, stride - U64(1))
    return total + _chances_along(board, discs, others, stride + U64(1))


@kernel
def handcrafted(worker: Worker, ply: int) -> float:
    """Return the mover's chances less the other's, as a share of all: a value, not a score."""
    position = position_at(worker, ply)
    own = chances(worker, position.own, others_discs(position))
    others = chances(worker, others_discs(position), position.own)
    return float64(own - others) / float64(16 * worker.lines + 1)


def _handcrafted_at(address: Any, ply: Any) -> Any:
    return int32(score_of_value(handcrafted(worker_at(address), ply)))


handcrafted_function = c_function(
    EVALUATOR_SIGNATURE, _handcrafted_at, "agent.connect_four.evaluation.handcrafted"
)
