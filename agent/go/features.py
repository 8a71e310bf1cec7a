"""Move features. A feature is an index into the table of learned weights.

A move has at most one feature in each column. The first columns are the 3x3 neighbourhood for the
side to move, the distances to the last two moves, and the line counted from the edge. The distance
is dx + dy + max(dx, dy). Each other column stands for one of the TRAITS.

The rating of a move is the sum of the weights of its features. It is the logarithm of the strength
in Coulom's model ('Computing Elo ratings of move patterns in the game of Go', 2007).
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
MAX_DISTANCE = 17  # larger distances count as this one
MAX_LINE = 5  # number of lines; higher lines count as the last one
CODE_COUNT = 1 << 16

# Table index of the first feature of each column.
LAST_DISTANCE_OFFSET = CODE_COUNT
PREVIOUS_DISTANCE_OFFSET = LAST_DISTANCE_OFFSET + MAX_DISTANCE + 1
LINE_OFFSET = PREVIOUS_DISTANCE_OFFSET + MAX_DISTANCE + 1
TRAIT_OFFSET = LINE_OFFSET + MAX_LINE
FEATURE_COUNT = TRAIT_OFFSET + len(TRAITS)
NO_FEATURE = -1

_read_weight = reader(FLOAT32)


def feature_name(index: int) -> str:
    """Return the name of a feature that is not a neighbourhood code."""
    if index < PREVIOUS_DISTANCE_OFFSET:
        return f"{index - LAST_DISTANCE_OFFSET} from the last move"
    if index < LINE_OFFSET:
        return f"{index - PREVIOUS_DISTANCE_OFFSET} from the move before"
    if index < TRAIT_OFFSET:
        return f"line {index - LINE_OFFSET + 1}"
    return TRAITS[index - TRAIT_OFFSET]


FEATURE_INDEX = {feature_name(index): index for index in range(CODE_COUNT, FEATURE_COUNT)}


@kernel
def add_trait(worker: Worker, move: int, trait: int) -> None:
    worker.traits[move] |= 1 << trait


@kernel
def _distance(board: Board, vertex: int, other: int) -> int:
    row = board.neighbour_offsets[0]
    dx = abs(vertex % row - other % row)
    dy = abs(vertex // row - other // row)
    return min(dx + dy + max(dx, dy), MAX_DISTANCE)


@kernel
def _code_for_mover(board: Board, vertex: int) -> int:
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
    """Return the feature of a move in a column, or NO_FEATURE."""
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
    """Return the sum of the weights of all features of a move."""
    total = 0.0
    for column in range(FIRST_TRAIT):
        index = feature_index(worker, board, move, column)
        if index != NO_FEATURE:
            total += _read_weight(worker.feature_weights, index)
    # Iterate over the set bits, because few moves have any trait.
    traits, index = int64(worker.traits[move]), TRAIT_OFFSET
    while traits > 0:
        if traits & 1:
            total += _read_weight(worker.feature_weights, index)
        traits >>= 1
        index += 1
    if move != PASS and _gives_atari(board, move):
        total += _read_weight(worker.feature_weights, TRAIT_OFFSET + GIVES_ATARI)
    return total
