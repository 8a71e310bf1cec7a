"""What a search of Go owns: C-like structs, each passed on as one pointer.

A vertex is an index into a flat board with a border, as in agent.games.stones: rows from below,
`step` apart, which is one more than the board is wide. PASS = NOWHERE = 0 lies in the border.
Colours are EMPTY, BLACK, WHITE and BORDER, as there.
"""

from typing import Annotated

import numpy as np

from agent.go.parts import MAX_BOARD_SIZE
from agent.kernel.intrinsics import Bits, at_address, copier, element
from agent.kernel.record import FixedArray, record

BOARD_CELLS = 448  # more than the vertices of the largest board, its border included
MAX_POINTS = MAX_BOARD_SIZE * MAX_BOARD_SIZE
MAX_GAME_MOVES = 4 * MAX_POINTS  # the most moves that a playout and the line before it have
PASS = NO_VERTEX = 0
MAX_LADDER_PLIES = 72  # boards on which ladders are read
MAX_DEFENCES = 8  # the most moves to save a chain that are read
MAX_TREE_PLIES = 250  # plies of the tree
MAX_CANDIDATES = 64


@record
class Board:
    """A position. Of a chain its head knows all: the vertex by which its stones know it.

    Codes have what lies around a vertex in two bits a neighbour: north, east, south, west, then
    the diagonals north-east, south-east, south-west, north-west.
    """

    colours: Annotated[FixedArray[int], np.int8, BOARD_CELLS]
    neighbour_codes: Annotated[FixedArray[int], np.uint16, BOARD_CELLS]
    chain_heads: Annotated[
        FixedArray[int], np.int16, BOARD_CELLS
    ]  # of stones; NOWHERE where there is none
    next_in_chain: Annotated[
        FixedArray[int], np.int16, BOARD_CELLS
    ]  # the next stone of the chain, in a circle
    chain_sizes: Annotated[FixedArray[int], np.int16, BOARD_CELLS]  # by head: stones
    liberties: Annotated[FixedArray[int], np.int16, BOARD_CELLS]  # by head: how many there are,
    liberty_sums: Annotated[FixedArray[int], np.int32, BOARD_CELLS]  # the sum of their vertices,
    liberty_square_sums: Annotated[
        FixedArray[int], np.int32, BOARD_CELLS
    ]  # and of the squares of these
    empty_index: Annotated[
        FixedArray[int], np.int16, BOARD_CELLS
    ]  # of empty vertices in the list of them
    empty_vertices: Annotated[FixedArray[int], np.int16, BOARD_CELLS]
    empty_count: int  # how many vertices are
    turn: int
    ko: int  # where the last capture forbids to take back, or NOWHERE
    last_move: int  # the last move, and the one before it
    previous_move: int
    last_captured: int  # stones that the last move took
    passes: int  # moves in a row that were passes
    captures: int  # stones taken so far
    key: Bits  # of the stones
    neighbour_offsets: Annotated[FixedArray[int], 8]  # to the neighbours, in the order of the codes
    neighbourhood_table: Bits  # address of the table of codes
    zobrist_keys: Bits  # address of the keys of stones: of each vertex Black's, then White's


@record
class Worker:
    """What one thread searches in."""

    root: Board
    board: Board  # of the playout that is being made
    ladder_boards: Annotated[FixedArray[Board], MAX_LADDER_PLIES]  # of a ladder, ply by ply
    defences: Annotated[FixedArray[int], np.int16, MAX_LADDER_PLIES * MAX_DEFENCES]
    ladder_nodes: int  # positions looked at in a ladder
    candidate_moves: Annotated[FixedArray[int], np.int16, MAX_CANDIDATES]  # candidates of a move
    candidate_count: int
    marks: Annotated[FixedArray[int], BOARD_CELLS]  # scratch: each user raises `mark` first
    mark: int
    queue: Annotated[FixedArray[int], np.int16, BOARD_CELLS]
    played_moves: Annotated[FixedArray[int], np.int16, MAX_GAME_MOVES]  # moves from the root on
    played_count: int
    first_played_ply: Annotated[
        FixedArray[int], np.int16, BOARD_CELLS
    ]  # the ply at which a vertex was first played at
    width: int
    height: int
    komi: float
    random: Bits
    scored_vertices: Annotated[
        FixedArray[int], np.int8, BOARD_CELLS
    ]  # 0 where a vertex is worth nothing, else 1
    owner_sums: Annotated[
        FixedArray[int], BOARD_CELLS
    ]  # playouts that ended with it Black's, less White's
    last_owners: Annotated[
        FixedArray[int], np.int8, BOARD_CELLS
    ]  # whose it was in the last: 1 Black's, -1 White's
    playout_count: int  # playouts, and the sum of their scores, for Black
    score_sum: float
    history_table: Bits  # address of a hash table: keys of the positions of the game, 0 for none
    history_capacity: int  # in it, a power of 2; many are free
    repeatable: int  # set if something was captured in the game
    path_keys: Annotated[
        FixedArray[Bits], MAX_TREE_PLIES + 2
    ]  # keys of the positions on the way to a leaf
    path_nodes: Annotated[FixedArray[int], MAX_TREE_PLIES + 2]  # the nodes on it
    prior_counts: Annotated[
        FixedArray[float], BOARD_CELLS
    ]  # of the moves that are being added: prior visits,
    prior_value_sums: Annotated[FixedArray[float], BOARD_CELLS]  # and their sum of values
    distances: Annotated[FixedArray[int], np.int16, BOARD_CELLS]
    traits: Annotated[
        FixedArray[int], np.int32, BOARD_CELLS
    ]  # and what is noticed of them: see features.py,
    ratings: Annotated[FixedArray[float], BOARD_CELLS]  # and how well they look by what was learned
    feature_weights: Bits  # address of the weights of features, 0 for none
    banned: Annotated[
        FixedArray[int], np.int16, 2 * BOARD_CELLS
    ]  # by colour: above which ply it may not play
    restricted: int  # set if there is any such vertex
    owner_sums_by_move: (
        Bits  # address of CELLS rows as `owned`, int32: by the first move; 0 for none
    )
    nodes: int
    seldepth: int
    stop: int  # set from outside
    evaluate: Bits  # address of int32 evaluate(worker*, int64 ply), 0 for none
    failure: Bits  # the exception that a compiled evaluation raised, 0 for none
    settings: Annotated[
        FixedArray[float], 32
    ]  # probabilities and weights, by number: see settings.py


board_at = element(Worker, "ladder_boards", Board)
copy_board = copier(Board)
worker_at = at_address(Worker)
