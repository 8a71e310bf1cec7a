"""The memory of a Connect Four search as C-like structs.

A set of squares is a bitboard, as in `agent.games.connect_four`. Each column has `stride` bits, one
more than its height, so that lines cannot wrap into the next column. A move is a column number,
counted from 1. NO_MOVE is 0.
"""

from typing import Annotated

import numpy as np

from agent.kernel.intrinsics import Bits, at_address, element
from agent.kernel.record import FixedArray, record

SQUARES = 64  # more than the bits of a board, and than the plies of a game
COLUMNS = 32
SHARES = 1600  # at least 16 * 99 + 1: supported boards have at most 99 lines of four
NO_MOVE = 0


@record
class Position:
    own: Bits  # discs of the side to move
    taken: Bits  # discs of both sides
    move: int  # last move


@record
class Frame:
    """The moves and the principal variation at one ply of the search."""

    moves: Annotated[FixedArray[int], COLUMNS]
    squares: Annotated[FixedArray[Bits], COLUMNS]  # landing square of each move
    ratings: Annotated[FixedArray[int], COLUMNS]
    pv_length: int
    pv: Annotated[FixedArray[int], np.int8, SQUARES]


@record
class Worker:
    positions: Annotated[FixedArray[Position], SQUARES + 1]
    frames: Annotated[FixedArray[Frame], SQUARES + 1]
    board: Bits  # all squares
    bottom: Bits  # lowest square of each column
    stride: Bits  # bits per column
    centre: int  # twice the middle column's index
    shares: Annotated[FixedArray[int], np.int16, SHARES]  # score by line potential
    root_squares: Bits  # landing squares of the moves to search at the root
    root_move: int  # root move to try first
    root_current: int  # root move being searched
    best_score: int  # score of the principal variation in frame 0
    nodes: int
    node_limit: int
    seldepth: int
    stop: int  # set by another thread, or by the node limit
    evaluate: Bits  # address of int32 evaluate(worker*, int64 ply)
    failure: Bits  # exception raised by a compiled evaluation, 0 for none
    table: Bits  # address of the transposition table
    table_clusters: Bits
    generation: int  # current generation of the table


position_at = element(Worker, "positions", Position)
frame_at = element(Worker, "frames", Frame)
worker_at = at_address(Worker)
