"""The features of a move that weights are learned for, each a place in the table of weights.

A move has at most one feature of each column: its 3x3 neighbourhood, as its mover sees it; how far
it is from the last move and the one before, by dx + dy + max(dx, dy); its line from the edge; and
a trait for each column after these, which the move has or not. Its rating is the sum of the
weights, the logarithm of the product of their strengths in Coulom's model ('Computing Elo ratings
of move patterns in the game of Go', 2007).
"""

from agent.games.stones import BLACK
from agent.go.records import NO_VERTEX, PASS, Board, Worker
from agent.kernel.atomic_columns import FLOAT32, reader
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import int64

NEIGHBOURHOOD, DISTANCE_TO_LAST, DISTANCE_TO_PREVIOUS, LINE = range(4)
FIRST_TRAIT = 4
TRAITS = (
    "captures one",
    "captures many",
    "escapes",
    "runs into a ladder",
    "starts a ladder",
    "avoids a ladder",
    "self-atari of one",
    "self-atari of many",
    "gives atari",
    "connected, 1 away",
    "connected, 2 away",
    "connected, 3 away",
    "passes",
    "passes after a pass",
)
(
    TAKES_ONE,
    TAKES_MANY,
    ESCAPES,
    RUNS_INTO_LADDER,
    STARTS_LADDER,
    AVOIDS_LADDER,
    SELF_ATARI_OF_ONE,
    SELF_ATARI_OF_MANY,
    GIVES_ATARI,
    CONNECTED_1,
    CONNECTED_2,
    CONNECTED_3,
    PASSES,
    PASSES_AFTER_PASS,
) = range(len(TRAITS))
FEATURE_COLUMNS = FIRST_TRAIT + len(TRAITS)
MAX_DISTANCE = 17  # distances from here on are one
MAX_LINE = 5  # likewise
CODE_COUNT = 1 << 16

# Where the features of each column begin in the table.
LAST_DISTANCE_OFFSET = CODE_COUNT
PREVIOUS_DISTANCE_OFFSET = LAST_DISTANCE_OFFSET + MAX_DISTANCE + 1
LINE_OFFSET = PREVIOUS_DISTANCE_OFFSET + MAX_DISTANCE + 1
TRAIT_OFFSET = LINE_OFFSET + MAX_LINE
FEATURE_COUNT = TRAIT_OFFSET + len(TRAITS)
NO_FEATURE = -1

_read_weight = reader(FLOAT32)


def feature_name(place: int) -> str:
    """Return what a feature beyond the codes is called."""
    if place < PREVIOUS_DISTANCE_OFFSET:
        return f"{place - LAST_DISTANCE_OFFSET} from the last move"
    if place < LINE_OFFSET:
        return f"{place - PREVIOUS_DISTANCE_OFFSET} from the move before"
    if place < TRAIT_OFFSET:
        return f"line {place - LINE_OFFSET + 1}"
    return TRAITS[place - TRAIT_OFFSET]


FEATURE_INDEX = {feature_name(place): place for place in range(CODE_COUNT, FEATURE_COUNT)}


@kernel
def add_trait(worker: Worker, move: int, trait: int) -> None:
    """Note that a move has a trait."""
    worker.traits[move] |= 1 << trait


@kernel
def _distance(board: Board, vertex: int, other: int) -> int:
    """Return how far two vertices are apart."""
    row = board.neighbour_offsets[0]
    dx = abs(vertex % row - other % row)
    dy = abs(vertex // row - other // row)
    return min(dx + dy + max(dx, dy), MAX_DISTANCE)


@kernel
def _code_for_mover(board: Board, vertex: int) -> int:
    """Return the code of what lies around a vertex, the mover's stones as if they were Black's."""
    code = int64(board.neighbour_codes[vertex])
    if board.turn == BLACK:
        return code
    return (code & 0x5555) << 1 | code >> 1 & 0x5555


@kernel
def _gives_atari(board: Board, vertex: int) -> bool:
    for side in range(4):
        beside = vertex + board.neighbour_offsets[side]
        head = int64(board.chain_heads[beside])
        if head != NO_VERTEX and board.colours[beside] != board.turn and board.liberties[head] == 2:
            return True
    return False


@kernel
def feature_index(worker: Worker, board: Board, move: int, column: int) -> int:
    """Return the place of the feature that a move has in a column, or NO_FEATURE."""
    if column >= FIRST_TRAIT:
        trait = column - FIRST_TRAIT
        if trait == GIVES_ATARI and move != PASS and _gives_atari(board, move):
            return TRAIT_OFFSET + GIVES_ATARI
        return TRAIT_OFFSET + trait if worker.traits[move] >> trait & 1 else NO_FEATURE
    if move == PASS:
        return NO_FEATURE
    if column == NEIGHBOURHOOD:
        return _code_for_mover(board, move)
    if column == LINE:
        row = board.neighbour_offsets[0]
        x, y = move % row - 1, move // row - 1
        line = min(min(x, worker.width - 1 - x), min(y, worker.height - 1 - y))
        return LINE_OFFSET + min(line, MAX_LINE - 1)
    if column == DISTANCE_TO_LAST:
        return (
            NO_FEATURE
            if board.last_move == PASS
            else LAST_DISTANCE_OFFSET + _distance(board, move, board.last_move)
        )
    return (
        NO_FEATURE
        if board.previous_move == PASS
        else PREVIOUS_DISTANCE_OFFSET + _distance(board, move, board.previous_move)
    )


@kernel
def move_rating(worker: Worker, board: Board, move: int) -> float:
    """Return the sum of the weights of a move's features."""
    total = 0.0
    for column in range(FIRST_TRAIT):
        place = feature_index(worker, board, move, column)
        if place != NO_FEATURE:
            total += _read_weight(worker.feature_weights, place)
    # As many columns again, but few moves have any of these traits.
    traits, place = int64(worker.traits[move]), TRAIT_OFFSET
    while traits > 0:
        if traits & 1:
            total += _read_weight(worker.feature_weights, place)
        traits >>= 1
        place += 1
    if move != PASS and _gives_atari(board, move):
        total += _read_weight(worker.feature_weights, TRAIT_OFFSET + GIVES_ATARI)
    return total
