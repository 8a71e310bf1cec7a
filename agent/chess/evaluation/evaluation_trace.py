"""Linear features of the hand-written evaluation, for tuning its weights."""

from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from agent.chess.board.packed_position import PackedPosition
from agent.chess.board.packing import packed_type, unpack
from agent.chess.board.records import Position
from agent.chess.evaluation.endgame_knowledge import FULL_SCALE
from agent.chess.evaluation.handcrafted import FULL_PHASE, evaluate_position
from agent.chess.evaluation.terms import WEIGHT_COUNT
from agent.kernel.decorators import entry_point
from agent.kernel.intrinsics import int64
from agent.kernel.record import FixedArray, allocate


class EvaluationTraces(NamedTuple):
    """The features of positions, from the point of view of the side to move.

    Except for rounding, the evaluation is `middlegame * (counts @ middlegame_weights) + endgame *
    (counts @ endgame_weights)`. Both factors are 0 for known wins, which use no weights.
    """

    counts: npt.NDArray[np.int16]  # (positions, WEIGHT_COUNT)
    middlegame: npt.NDArray[np.float64]  # 1 with all pieces, 0 with only kings and pawns
    endgame: npt.NDArray[np.float64]  # (1 - middlegame) * endgame scale
    evaluations: npt.NDArray[np.int64]  # the evaluation itself, in centipawns


@entry_point(
    numba.void(
        numba.types.Array(packed_type, 1, "C", readonly=True),
        Position,
        int64[:, ::1],
        numba.int16[:, ::1],
        numba.float64[::1],
        numba.float64[::1],
        int64[::1],
    )
)
def _trace(
    positions: FixedArray[PackedPosition],
    position: Position,
    trace: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int16],
    middlegame: npt.NDArray[np.float64],
    endgame: npt.NDArray[np.float64],
    evaluations: npt.NDArray[np.int64],
) -> None:
    """Fill the arrays of `EvaluationTraces`. `trace` is a buffer of shape (2, WEIGHT_COUNT)."""
    for i in range(len(positions)):
        unpack(positions[i], position)
        trace[:] = 0
        result = evaluate_position(position, trace, None)
        turn = position.turn
        for j in range(trace.shape[1]):
            counts[i, j] = trace[turn, j] - trace[1 - turn, j]
        middlegame[i] = result.phase / FULL_PHASE
        endgame[i] = (1 - middlegame[i]) * result.endgame_scale / FULL_SCALE
        evaluations[i] = result.value


def trace(positions: npt.NDArray[np.void]) -> EvaluationTraces:
    """Evaluate packed positions, and return the features of each."""
    n = len(positions)
    traces = EvaluationTraces(
        np.zeros((n, WEIGHT_COUNT), np.int16), np.zeros(n), np.zeros(n), np.zeros(n, np.int64)
    )
    packed: Any = np.ascontiguousarray(positions)
    position, _ = allocate(Position)
    _trace(
        packed,
        position,
        np.zeros((2, WEIGHT_COUNT), np.int64),
        *traces,
    )
    return traces
