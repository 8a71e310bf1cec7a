"""What a search of Connect Four owns: one C-like struct, passed on as one pointer.

A set of squares is a number with one bit a square, as in agent.games.connect_four: each column
takes one bit more than its height, `stride` in all, so that a line cannot run over from one column
into the next. A move is its column's number from 1; NO_MOVE = 0.
"""

from typing import Annotated

import numpy as np

from agent.kernel.intrinsics import Bits, at_address, element
from agent.kernel.record import FixedArray, record

SQUARES = 64  # the most bits of a board, more than the most plies of a game
COLUMNS = 32
SHARES = 1600  # more than the chances of the 99 lines that no board here exceeds
NO_MOVE = 0


@record
class Position:
    """A position: of the game, or at a ply of the search."""

    own: Bits  # the discs of the side to move
    taken: Bits  # the discs of both
    move: int  # that led here


@record
class Frame:
    """What the search keeps of the node at a ply."""

    moves: Annotated[FixedArray[int], COLUMNS]
    squares: Annotated[FixedArray[Bits], COLUMNS]  # where the disc of each comes to rest
    ratings: Annotated[FixedArray[int], COLUMNS]
    pv_length: int
    pv: Annotated[FixedArray[int], np.int8, SQUARES]


@record
class Worker:
    """What a search works in."""

    positions: Annotated[FixedArray[Position], SQUARES + 1]
    frames: Annotated[FixedArray[Frame], SQUARES + 1]
    board: Bits  # all squares
    bottom: Bits  # the lowest of each column
    stride: Bits  # from one column to the next
    centre: int  # twice the number of the middle column, from 0
    shares: Annotated[
        FixedArray[int], np.int16, SHARES
    ]  # scores of so many chances, as a share of all
    root_squares: Bits  # where the search may play at the root
    root_move: int  # what is to be tried first there
    root_current: int  # what is being searched there
    best_score: int  # of the line in frame 0
    nodes: int
    node_limit: int
    seldepth: int
    stop: int  # set from outside, or by the node limit
    evaluate: Bits  # address of int32 evaluate(worker*, int64 ply)
    failure: Bits  # the exception that a compiled evaluation raised, 0 for none
    table: Bits  # address of the transposition table
    table_clusters: Bits
    generation: int  # of table entries


position_at = element(Worker, "positions", Position)
frame_at = element(Worker, "frames", Frame)
worker_at = at_address(Worker)
