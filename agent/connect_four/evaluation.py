"""Compiled version of the evaluation in `agent.games.connect_four`."""

from typing import Any

from numba import int32

from agent.connect_four.records import Worker, position_at, worker_at
from agent.connect_four.rules import opponent_discs
from agent.kernel.decorators import c_function, kernel
from agent.kernel.intrinsics import EVALUATOR_SIGNATURE, U64, Bits, count, int64


@kernel
def _line_potential_along(board: Bits, discs: Bits, opponent: Bits, step: Bits) -> int:
    open_ = board & ~opponent
    pairs = open_ & open_ >> step
    lines = pairs & pairs >> step >> step  # first square of each line
    first, second = discs & lines, discs >> step & lines
    third = discs >> step >> step & lines
    fourth = discs >> step >> step >> step & lines
    # Bit-parallel adder over all lines: disc count = ones + 2 * twos + 4 * fours.
    odd, other_odd = first ^ second, third ^ fourth
    pair, other_pair = first & second, third & fourth
    ones = odd ^ other_odd
    twos = pair ^ other_pair ^ (odd & other_odd)
    return count(ones) + 4 * (count(twos) + count(ones & twos)) + 16 * count(pair & other_pair)


@kernel
def line_potential(worker: Worker, discs: Bits, opponent: Bits) -> int:
    """Return the sum of the squared disc counts of all lines of four without opposing discs."""
    board, stride = worker.board, worker.stride
    total = _line_potential_along(board, discs, opponent, U64(1))
    total += _line_potential_along(board, discs, opponent, stride)
    total += _line_potential_along(board, discs, opponent, stride - U64(1))
    return total + _line_potential_along(board, discs, opponent, stride + U64(1))


@kernel
def handcrafted(worker: Worker, ply: int) -> int:
    """Return the score for the side to move, from the `line_potential` of both sides."""
    position = position_at(worker, ply)
    opponent = opponent_discs(position)
    balance = line_potential(worker, position.own, opponent) - line_potential(
        worker, opponent, position.own
    )
    score = int64(worker.shares[abs(balance)])
    return score if balance >= 0 else -score


def _handcrafted_at(address: Any, ply: Any) -> Any:
    return int32(handcrafted(worker_at(address), ply))


handcrafted_function = c_function(
    EVALUATOR_SIGNATURE, _handcrafted_at, "agent.connect_four.evaluation.handcrafted"
)
