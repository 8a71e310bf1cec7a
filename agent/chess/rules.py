"""The kernel's rules for Python callers: a game loaded into a worker, legal moves, perft."""

from collections.abc import Callable
from typing import Any

import chess
import numba
import numpy as np
import numpy.typing as npt

from agent.chess.moves import ALL, generate
from agent.chess.native import U64
from agent.chess.position import encode, is_insufficient, is_repetition, make, refresh
from agent.chess.records import (
    CASTLING,
    FLAG,
    MAX_PAST,
    NO_MOVE,
    NO_SQUARE,
    PROMOTION,
    Worker,
    copy_position,
    frame_at,
    position_at,
    worker_dtype,
)
from agent.kernel import entry

_EVERYWHERE = U64(0xFFFFFFFFFFFFFFFF)
_int64 = numba.int64


@entry(numba.void(Worker, numba.types.Array(numba.int32, 1, "C", readonly=True)))
def _load(worker: Worker, moves: npt.NDArray[np.int32]) -> None:
    """Compute the base position at ply 0, then play `moves` (from, to, promotion kind) on it."""
    root = position_at(worker, 0)
    refresh(root)
    worker.past_count = 0
    for i in range(len(moves)):
        move = encode(root, moves[i] & 63, moves[i] >> 6 & 63, moves[i] >> 12)
        if worker.past_count == MAX_PAST:
            for j in range(MAX_PAST - 1):
                worker.past[j] = worker.past[j + 1]
            worker.past_count -= 1
        worker.past[worker.past_count] = root.repetition_key
        worker.past_count += 1
        make(worker, 0, move)
        copy_position(root, position_at(worker, 1))


@entry(_int64(Worker))
def _legal(worker: Worker) -> int:
    """Write the legal moves of the root position to frame 0 and return their number."""
    return generate(position_at(worker, 0), frame_at(worker, 0), 0, ALL, _EVERYWHERE, False)


@entry(_int64(Worker, _int64, _int64))
def _perft(worker: Worker, ply: int, depth: int) -> int:
    """Count the leaves `depth` plies below `ply`; the last ply is counted, not played."""
    position, frame = position_at(worker, ply), frame_at(worker, ply)
    if depth <= 1:
        return generate(position, frame, 0, ALL, _EVERYWHERE, True) if depth == 1 else 1
    n = generate(position, frame, 0, ALL, _EVERYWHERE, False)
    leaves = 0
    next_ply, less = ply + 1, depth - 1
    for i in range(n):
        if worker.stop:
            return 0
        make(worker, ply, frame.moves[i])
        leaves += _perft(worker, next_ply, less)
        worker.nodes += 1
    return leaves
