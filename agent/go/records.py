"""The memory of a Go search as C-like structs.

A vertex is an index into a flat board with a border, as in `agent.games.stones`. Rows start at the
bottom and are `width + 1` apart. PASS = NO_VERTEX = 0 lies in the border.
"""

from typing import Annotated

import numpy as np

from agent.go.parts import MAX_BOARD_SIZE
from agent.kernel.intrinsics import Bits, at_address, copier, element
from agent.kernel.record import FixedArray, record

BOARD_CELLS = 448  # more than the vertices of the largest board, its border included
MAX_POINTS = MAX_BOARD_SIZE * MAX_BOARD_SIZE
MAX_GAME_MOVES = 4 * MAX_POINTS  # limit for a playout and the tree path before it
PASS = NO_VERTEX = 0
MAX_LADDER_PLIES = 72
MAX_DEFENCES = 8  # limit of the moves considered to save a chain
MAX_TREE_PLIES = 250
MAX_CANDIDATES = 64


@record
class Board:
    """A position. A chain is identified by the vertex of one of its stones, its head.

    A neighbour code has two bits for each neighbour, in the order north, east, south, west,
    north-east, south-east, south-west, north-west.
    """

    colours: Annotated[FixedArray[int], np.int8, BOARD_CELLS]
    neighbour_codes: Annotated[FixedArray[int], np.uint16, BOARD_CELLS]
    # Head of each stone's chain, by vertex; NO_VERTEX if there is no stone.
    chain_heads: Annotated[FixedArray[int], np.int16, BOARD_CELLS]
    next_in_chain: Annotated[FixedArray[int], np.int16, BOARD_CELLS]  # circular list
    # By head: number of stones, number of liberties, sum of the liberties' vertices, sum of the
    # squares of these vertices.
    chain_sizes: Annotated[FixedArray[int], np.int16, BOARD_CELLS]
    liberties: Annotated[FixedArray[int], np.int16, BOARD_CELLS]
    liberty_sums: Annotated[FixedArray[int], np.int32, BOARD_CELLS]
    liberty_square_sums: Annotated[FixedArray[int], np.int32, BOARD_CELLS]
    # Index of each empty vertex in empty_vertices.
    empty_index: Annotated[FixedArray[int], np.int16, BOARD_CELLS]
    empty_vertices: Annotated[FixedArray[int], np.int16, BOARD_CELLS]
    empty_count: int
    turn: int
    ko: int  # vertex where recapture is forbidden, or NO_VERTEX
    last_move: int
    previous_move: int
    last_captured: int  # stones captured by the last move
    passes: int  # consecutive passes
    button: int  # 1 while the next pass takes the button
    button_owner: int  # 1 if Black took the button, -1 if White did, else 0
    captures: int  # stones captured so far
    key: Bits  # Zobrist key of the stones
    neighbour_offsets: Annotated[FixedArray[int], 8]  # in the order of the neighbour codes
    neighbourhood_table: Bits  # address of the table (see neighbourhoods.py)
    zobrist_keys: Bits  # address of the keys by vertex: all of Black's, then all of White's


@record
class Worker:
    root: Board
    board: Board  # board of the current simulation
    ladder_boards: Annotated[FixedArray[Board], MAX_LADDER_PLIES]  # board at each ply of a ladder
    defences: Annotated[FixedArray[int], np.int16, MAX_LADDER_PLIES * MAX_DEFENCES]
    ladder_nodes: int  # number of positions visited in the current ladder
    candidate_moves: Annotated[FixedArray[int], np.int16, MAX_CANDIDATES]
    candidate_count: int
    # Scratch space: a vertex is marked if its value equals `mark`. Each use increments `mark`
    # first.
    marks: Annotated[FixedArray[int], BOARD_CELLS]
    mark: int
    queue: Annotated[FixedArray[int], np.int16, BOARD_CELLS]
    played_moves: Annotated[FixedArray[int], np.int16, MAX_GAME_MOVES]  # moves from the root on
    played_count: int
    # 1 + the ply of the first move at a vertex; 0 if no move was played there.
    first_played_ply: Annotated[FixedArray[int], np.int16, BOARD_CELLS]
    width: int
    height: int
    komi: float  # White's points beside the area (see Go.area_komi)
    territory: int  # 1 if each stone that is placed after the root costs a point
    tax: int  # index in TAX_RULES
    suicide: int  # 1 if suicide of several stones is legal
    simple_ko: int  # 1 if positions may be repeated, which is a draw
    turn_key: Bits  # added to the keys of situations with White to move; 0 if only stones matter
    placed: int  # stones placed by Black less those by White in the tree; 0 unless `territory`
    repeated: int  # 1 if the path in the tree ended with a repetition that is a draw
    random: Bits
    # 1 if the vertex counts in the score, else 0.
    scored_vertices: Annotated[FixedArray[int], np.int8, BOARD_CELLS]
    # Number of playouts after which Black owned the vertex, minus those after which White did.
    owner_sums: Annotated[FixedArray[int], BOARD_CELLS]
    # Owner after the last playout: 1 for Black, -1 for White.
    last_owners: Annotated[FixedArray[int], np.int8, BOARD_CELLS]
    playout_count: int
    score_sum: float  # sum of Black's scores over all playouts
    history_table: (
        Bits  # address of a hash table with the keys of the game's situations; 0 is empty
    )
    history_capacity: int  # a power of 2, well above the number of keys
    repeatable: int  # 1 if the game had captures
    path_keys: Annotated[FixedArray[Bits], MAX_TREE_PLIES + 2]  # keys from the root to the leaf
    path_nodes: Annotated[FixedArray[int], MAX_TREE_PLIES + 2]
    # By move, while a node is being expanded: number of prior visits, and sum of their values.
    prior_counts: Annotated[FixedArray[float], BOARD_CELLS]
    prior_value_sums: Annotated[FixedArray[float], BOARD_CELLS]
    distances: Annotated[FixedArray[int], np.int16, BOARD_CELLS]
    traits: Annotated[FixedArray[int], np.int32, BOARD_CELLS]  # bit set (see features.py)
    ratings: Annotated[FixedArray[float], BOARD_CELLS]  # ratings by learned weights
    feature_weights: Bits  # address, 0 if there are no weights
    # By colour and vertex: the move is banned before this ply.
    banned: Annotated[FixedArray[int], np.int16, 2 * BOARD_CELLS]
    restricted: int  # 1 if any move is banned
    # Address of int32 rows like owner_sums, one per first move; 0 for none.
    owner_sums_by_move: Bits
    nodes: int
    seldepth: int
    stop: int  # set by other threads
    evaluate: Bits  # address of int32 evaluate(worker*, int64 ply), 0 for none
    failure: Bits  # exception raised by a compiled evaluation, 0 for none
    network: Bits  # address of the network's parameters, 0 for none
    network_blocks: int
    network_buffer: Bits  # address of its activations
    # Value for Black of the last node of the path that the network evaluated. It is valid only if
    # `evaluated` is 1.
    network_value: float
    evaluated: int
    settings: Annotated[FixedArray[float], 32]  # by index (see settings.py)


board_at = element(Worker, "ladder_boards", Board)
copy_board = copier(Board)
worker_at = at_address(Worker)
