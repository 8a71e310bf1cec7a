"""What each weight of the hand-made evaluation counts for in positions: its linear features.

Nothing that the engine needs to play imports this module: it is compiled when it is first used.
"""

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


class Traces(NamedTuple):
    """For the side to move of each position; counts times weights make the evaluation.

    That is, up to rounding: middlegame * (counts @ middlegame weights) + endgame * (counts @
    endgame weights). Endings with a worth of their own count for nothing there.
    """

    counts: npt.NDArray[np.int16]  # (positions, TERMS)
    middlegame: npt.NDArray[np.float64]  # 1 with all pieces on the board, 0 with kings and pawns
    endgame: npt.NDArray[np.float64]  # the rest of 1, less where the advantage is hard to win with
    evaluations: npt.NDArray[np.int64]  # centipawns, by the evaluation itself


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
    """Fill the arrays of `Traces`. trace: (2, TERMS), for use meanwhile."""
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


def trace(positions: npt.NDArray[np.void]) -> Traces:
    """Evaluate packed positions and note what each weight counted for."""
    n = len(positions)
    traces = Traces(
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
