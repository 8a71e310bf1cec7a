"""What a search of Go owns: C-like structs, each passed on as one pointer.

A vertex is an index into a flat board with a border, as in agent.games.stones: rows from below,
`step` apart, which is one more than the board is wide. PASS = NOWHERE = 0 lies in the border.
Colours are EMPTY, BLACK, WHITE and BORDER, as there.
"""

from typing import Annotated

import numpy as np

from agent.compiled.native import Bits, at_address, copier, element
from agent.compiled.record import Many, record
from agent.go.parts import LARGEST

CELLS = 448  # more than the vertices of the largest board, its border included
POINTS = LARGEST * LARGEST
LONGEST = 4 * POINTS  # the most moves that a playout and the line before it have
PASS = NOWHERE = 0
READING = 72  # boards on which ladders are read
DEFENCES = 8  # the most moves to save a chain that are read
DEEPEST = 250  # plies of the tree
CANDIDATES = 64


@record
class Board:
    """A position. Of a chain its head knows all: the vertex by which its stones know it.

    Codes have what lies around a vertex in two bits a neighbour: north, east, south, west, then
    the diagonals north-east, south-east, south-west, north-west.
    """

    colours: Annotated[Many[int], np.int8, CELLS]
    codes: Annotated[Many[int], np.uint16, CELLS]
    heads: Annotated[Many[int], np.int16, CELLS]  # of stones; NOWHERE where there is none
    nexts: Annotated[Many[int], np.int16, CELLS]  # the next stone of the chain, in a circle
    sizes: Annotated[Many[int], np.int16, CELLS]  # by head: stones
    liberties: Annotated[Many[int], np.int16, CELLS]  # by head: how many there are,
    sums: Annotated[Many[int], np.int32, CELLS]  # the sum of their vertices,
    squares: Annotated[Many[int], np.int32, CELLS]  # and of the squares of these
    places: Annotated[Many[int], np.int16, CELLS]  # of empty vertices in the list of them
    empties: Annotated[Many[int], np.int16, CELLS]
    empty: int  # how many vertices are
    turn: int
    ko: int  # where the last capture forbids to take back, or NOWHERE
    last: int  # the last move, and the one before it
    earlier: int
    taken: int  # stones that the last move took
    passes: int  # moves in a row that were passes
    captures: int  # stones taken so far
    key: Bits  # of the stones
    steps: Annotated[Many[int], 8]  # to the neighbours, in the order of the codes
    shapes: Bits  # address of the table of codes
    keys: Bits  # address of the keys of stones: of each vertex Black's, then White's


@record
class Worker:
    """What one thread searches in."""

    root: Board
    board: Board  # of the playout that is being made
    reading: Annotated[Many[Board], READING]  # of a ladder, ply by ply
    defences: Annotated[Many[int], np.int16, READING * DEFENCES]
    read: int  # positions looked at in a ladder
    chosen: Annotated[Many[int], np.int16, CANDIDATES]  # candidates of a move
    candidates: int
    marks: Annotated[Many[int], CELLS]  # scratch: each user raises `mark` first
    mark: int
    queue: Annotated[Many[int], np.int16, CELLS]
    played: Annotated[Many[int], np.int16, LONGEST]  # moves from the root on
    length: int
    first: Annotated[Many[int], np.int16, CELLS]  # the ply at which a vertex was first played at
    width: int
    height: int
    komi: float
    random: Bits
    counted: Annotated[Many[int], np.int8, CELLS]  # 0 where a vertex is worth nothing, else 1
    owned: Annotated[Many[int], CELLS]  # playouts that ended with it Black's, less White's
    owners: Annotated[Many[int], np.int8, CELLS]  # whose it was in the last: 1 Black's, -1 White's
    finished: int  # playouts, and the sum of their scores, for Black
    points: float
    history: Bits  # address of a hash table: keys of the positions of the game, 0 for none
    history_places: int  # in it, a power of 2; many are free
    repeatable: int  # set if something was captured in the game
    path: Annotated[Many[Bits], DEEPEST + 2]  # keys of the positions on the way to a leaf
    visited: Annotated[Many[int], DEEPEST + 2]  # the nodes on it
    weights: Annotated[Many[float], CELLS]  # of the moves that are being added: prior visits,
    hopes: Annotated[Many[float], CELLS]  # and their sum of values
    distances: Annotated[Many[int], np.int16, CELLS]
    traits: Annotated[Many[int], np.int32, CELLS]  # and what is noticed of them: see features.py,
    ratings: Annotated[Many[float], CELLS]  # and how well they look by what was learned
    learned: Bits  # address of the weights of features, 0 for none
    banned: Annotated[Many[int], np.int16, 2 * CELLS]  # by colour: above which ply it may not play
    restricted: int  # set if there is any such vertex
    owned_after: Bits  # address of CELLS rows as `owned`, int32: by the first move; 0 for none
    nodes: int
    seldepth: int
    stop: int  # set from outside
    evaluate: Bits  # address of int32 evaluate(worker*, int64 ply), 0 for none
    failure: Bits  # the exception that a compiled evaluation raised, 0 for none
    settings: Annotated[Many[float], 32]  # probabilities and weights, by number: see settings.py


board_at = element(Worker, "reading", Board)
copy_board = copier(Board)
worker_at = at_address(Worker)
