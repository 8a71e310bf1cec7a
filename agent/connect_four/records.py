"""What a search of Connect Four owns: one C-like struct, passed on as one pointer.

A set of squares is a number with one bit a square, as in agent.games.connect_four: each column
takes one bit more than its height, `stride` in all, so that a line cannot run over from one column
into the next. A move is its column's number from 1; NO_MOVE = 0.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

import numba
import numpy as np

from agent.compiled.native import U64, at_address, element

SQUARES = 64  # the most bits of a board, more than the most plies of a game
COLUMNS = 32
SHARES = 1600  # more than the chances of the 99 lines that no board here exceeds
NO_MOVE = 0

position_dtype = np.dtype(
    [
        ("own", U64),  # the discs of the side to move
        ("taken", U64),  # the discs of both
        ("move", np.int64),  # that led here
    ],
    align=True,
)

frame_dtype = np.dtype(
    [
        ("squares", U64, (COLUMNS,)),  # the moves of this node, by where the disc comes to rest
        ("ratings", np.int64, (COLUMNS,)),
        ("pv_length", np.int64),
        ("pv", np.int8, (SQUARES,)),
    ],
    align=True,
)

worker_dtype = np.dtype(
    [
        ("positions", position_dtype, (SQUARES + 1,)),  # one a ply
        ("frames", frame_dtype, (SQUARES + 1,)),
        ("board", U64),  # all squares
        ("bottom", U64),  # the lowest of each column
        ("stride", U64),  # from one column to the next
        ("centre", np.int64),  # twice the number of the middle column, from 0
        ("shares", np.int16, (SHARES,)),  # the scores of so many chances, as a share of all
        ("root_squares", U64),  # where the search may play at the root
        ("root_move", np.int64),  # what is to be tried first there
        ("root_current", np.int64),  # what is being searched there
        ("best_score", np.int64),  # of the line in frame 0
        ("nodes", np.int64),
        ("node_limit", np.int64),
        ("seldepth", np.int64),
        ("stop", np.int64),  # set from outside, or by the node limit
        ("evaluate", U64),  # address of int32 evaluate(worker*, int64 ply)
        ("failure", U64),  # the exception that a compiled evaluation raised, 0 for none
        ("table", U64),  # address of the transposition table
        ("table_clusters", U64),
        ("generation", np.int64),  # of table entries
    ],
    align=True,
)

_position = numba.from_dtype(position_dtype)
_frame = numba.from_dtype(frame_dtype)
_worker = numba.from_dtype(worker_dtype)

if TYPE_CHECKING:  # a record's fields are known to Numba alone
    Position: TypeAlias = Any
    Frame: TypeAlias = Any
    Worker: TypeAlias = Any
else:
    Position, Frame, Worker = _position, _frame, _worker

position_at = element(_worker, "positions", _position)
frame_at = element(_worker, "frames", _frame)
worker_at = at_address(_worker)
