"""Prior knowledge about moves: a new node starts with prior visits and their values.

Priors depend on the distance from the last move along connected stones (the common fate graph of
Graepel et al., 2001), captures, rescues, ladders, 3x3 patterns, empty regions at the edge,
self-atari, and settled territory. The design follows Baudis, 'Information sharing in MCTS' (2011),
and the program michi.
"""

import math

from agent.games.stones import BORDER, EMPTY
from agent.go.board import (
    is_eye,
    is_group_suicide,
    is_legal,
    liberties_after,
    matches_pattern,
    neighbourhood_flags,
    only_liberty,
    self_atari_size,
)
from agent.go.features import (
    AVOIDS_LADDER,
    CONNECTED_1,
    ESCAPES,
    PASSES,
    PASSES_AFTER_PASS,
    RUNS_INTO_LADDER,
    SELF_ATARI_OF_MANY,
    SELF_ATARI_OF_ONE,
    STARTS_LADDER,
    TAKES_MANY,
    TAKES_ONE,
    add_trait,
    move_rating,
)
from agent.go.ladders import can_escape, find_ladder_attack
from agent.go.playout import add_rescue_candidates
from agent.go.records import BOARD_CELLS, NO_VERTEX, PASS, Board, Worker
from agent.go.settings import (
    CAPTURES_MANY,
    CAPTURES_ONE,
    CORNER,
    EMPTY_EDGE,
    EVEN,
    LADDER,
    LEARNED,
    NEAR_1,
    NEAR_2,
    NEAR_3,
    PASSING,
    PATTERN_3X3,
    SELF_ATARI_PRIOR,
    TERRITORY,
)
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import int64

NO_PRIOR = -1.0  # marks excluded vertices
MAX_DISTANCE = 3
_EMPTY_RADIUS = 3
_MAX_SMALL_SIZE = 11  # on boards up to this width corners get no bonus
# A vertex counts as territory if this fraction of the playouts agrees, after at least the minimum
# number of playouts.
_TERRITORY_SHARE, _MIN_TERRITORY_PLAYOUTS = 0.9, 100


@kernel
def _add_prior(worker: Worker, move: int, setting: int, value: float) -> None:
    if worker.prior_counts[move] != NO_PRIOR:
        worker.prior_counts[move] += worker.settings[setting]
        worker.prior_value_sums[move] += value * worker.settings[setting]


@kernel
def _compute_distances(worker: Worker, board: Board) -> None:
    """Write the distance of each vertex from the last move, limited to MAX_DISTANCE + 1."""
    for vertex in range(BOARD_CELLS):
        worker.distances[vertex] = MAX_DISTANCE + 1
    worker.distances[board.last_move] = 0
    worker.queue[0] = board.last_move
    size, i = 1, 0
    # Steps within a chain cost nothing, so the queue is only approximately sorted. A vertex whose
    # distance decreases is queued again.
    while i < size:
        vertex = int64(worker.queue[i])
        i += 1
        for side in range(4):
            beside = vertex + board.neighbour_offsets[side]
            colour = board.colours[beside]
            if colour == BORDER:
                continue
            distance = int64(worker.distances[vertex])
            if colour == EMPTY or colour != board.colours[vertex]:
                distance += 1
            if (
                distance < worker.distances[beside]
                and distance <= MAX_DISTANCE
                and size < BOARD_CELLS
            ):
                worker.distances[beside] = distance
                worker.queue[size] = beside
                size += 1


@kernel
def _is_empty_around(worker: Worker, board: Board, vertex: int) -> bool:
    row = board.neighbour_offsets[0]
    x, y = vertex % row - 1, vertex // row - 1
    for dy in range(-_EMPTY_RADIUS, _EMPTY_RADIUS + 1):
        if not 0 <= y + dy < worker.height:
            continue
        radius = _EMPTY_RADIUS - abs(dy)
        for dx in range(-radius, radius + 1):
            if 0 <= x + dx < worker.width and board.colours[vertex + dy * row + dx] != EMPTY:
                return False
    return True


@kernel
def _add_tactical_priors(worker: Worker, board: Board) -> None:
    colour, row = board.turn, board.neighbour_offsets[0]
    for vertex in range(row + 1, (worker.height + 1) * row):
        if board.chain_heads[vertex] != vertex:
            continue
        liberties = board.liberties[vertex]
        if liberties > 2:
            continue
        reason = CAPTURES_ONE if board.chain_sizes[vertex] == 1 else CAPTURES_MANY
        own = board.colours[vertex] == colour
        if liberties == 1 and not own:
            move = only_liberty(board, vertex)
            _add_prior(worker, move, reason, 1.0)
            add_trait(worker, move, TAKES_ONE if board.chain_sizes[vertex] == 1 else TAKES_MANY)
        elif liberties == 1:
            if can_escape(worker, board, vertex):
                worker.candidate_count = 0
                add_rescue_candidates(worker, board, vertex)
                for i in range(worker.candidate_count):
                    _add_prior(worker, int64(worker.candidate_moves[i]), reason, 1.0)
                    add_trait(worker, int64(worker.candidate_moves[i]), ESCAPES)
            else:
                move = only_liberty(board, vertex)
                _add_prior(worker, move, LADDER, -1.0)
                add_trait(worker, move, RUNS_INTO_LADDER)
        else:
            move = find_ladder_attack(worker, board, vertex)
            if move == NO_VERTEX:
                continue
            _add_prior(worker, move, reason, 1.0)
            add_trait(worker, move, AVOIDS_LADDER if own else STARTS_LADDER)
            if own:
                other = int64(board.liberty_sums[vertex]) - move
                if is_legal(board, other, colour) and liberties_after(board, other, colour) > 2:
                    _add_prior(worker, other, reason, 1.0)
                    add_trait(worker, other, AVOIDS_LADDER)


@kernel
def _add_learned_priors(worker: Worker, board: Board) -> None:
    """Add prior visits in proportion to the square root of each move's learned strength."""
    best_rating = -math.inf
    for i in range(-1, board.empty_count):
        move = int64(PASS) if i < 0 else int64(board.empty_vertices[i])
        if worker.prior_counts[move] != NO_PRIOR:
            worker.ratings[move] = move_rating(worker, board, move)
            best_rating = max(best_rating, worker.ratings[move])
    for i in range(-1, board.empty_count):
        move = int64(PASS) if i < 0 else int64(board.empty_vertices[i])
        if worker.prior_counts[move] != NO_PRIOR:
            visits = worker.settings[LEARNED] * math.exp(0.5 * (worker.ratings[move] - best_rating))
            worker.prior_counts[move] += visits
            worker.prior_value_sums[move] += visits


@kernel
def compute_priors(worker: Worker, board: Board, ply: int) -> None:
    """Write the prior visits and values of all moves. NO_PRIOR marks excluded moves.

    Moves into own eyes are excluded, unless an adjacent chain is in atari or the root moves are
    restricted.
    """
    colour, row = board.turn, board.neighbour_offsets[0]
    is_restricted = ply == 0 and worker.restricted != 0
    even = worker.settings[EVEN]
    for i in range(board.empty_count):
        vertex = int64(board.empty_vertices[i])
        worker.prior_counts[vertex] = NO_PRIOR
        if not is_legal(board, vertex, colour) and not (
            worker.suicide and is_group_suicide(board, vertex, colour)
        ):
            continue
        if not is_restricted and is_eye(neighbourhood_flags(board, vertex), colour):
            threatened = False
            for side in range(4):
                head = int64(board.chain_heads[vertex + board.neighbour_offsets[side]])
                if head != NO_VERTEX and board.liberties[head] == 1:
                    threatened = True
            if not threatened:
                continue
        worker.prior_counts[vertex] = even
        worker.prior_value_sums[vertex] = 0.0
        worker.traits[vertex] = 0
    worker.prior_counts[PASS] = even
    worker.prior_value_sums[PASS] = 0.0
    worker.traits[PASS] = 0
    add_trait(worker, int64(PASS), PASSES_AFTER_PASS if board.passes else PASSES)
    if board.passes == 0:
        _add_prior(worker, int64(PASS), PASSING, -1.0)
    if board.last_move != PASS:
        _compute_distances(worker, board)
    for i in range(board.empty_count):
        vertex = int64(board.empty_vertices[i])
        if worker.prior_counts[vertex] == NO_PRIOR:
            continue
        if board.last_move != PASS:
            distance = int64(worker.distances[vertex])
            if 0 < distance <= MAX_DISTANCE:
                add_trait(worker, vertex, CONNECTED_1 + distance - 1)
            if distance == 1:
                _add_prior(worker, vertex, NEAR_1, 1.0)
            elif distance == 2:
                _add_prior(worker, vertex, NEAR_2, 1.0)
            elif distance == 3:
                _add_prior(worker, vertex, NEAR_3, 1.0)
        if matches_pattern(neighbourhood_flags(board, vertex)):
            _add_prior(worker, vertex, PATTERN_3X3, 1.0)
        x, y = vertex % row - 1, vertex // row - 1
        line = min(min(x, worker.width - 1 - x), min(y, worker.height - 1 - y))
        if line <= 3 and _is_empty_around(worker, board, vertex):
            _add_prior(worker, vertex, EMPTY_EDGE, 1.0 if line > 1 else -1.0)
            farther = max(min(x, worker.width - 1 - x), min(y, worker.height - 1 - y))
            if line > 1 and farther <= 4 and min(worker.width, worker.height) > _MAX_SMALL_SIZE:
                _add_prior(worker, vertex, CORNER, 1.0)
        if worker.playout_count >= _MIN_TERRITORY_PLAYOUTS and (
            abs(worker.owner_sums[vertex]) >= _TERRITORY_SHARE * worker.playout_count
        ):
            _add_prior(worker, vertex, TERRITORY, -1.0)
        stones = self_atari_size(board, vertex, colour)
        if stones > 0:
            _add_prior(worker, vertex, SELF_ATARI_PRIOR, -1.0)
            add_trait(worker, vertex, SELF_ATARI_OF_ONE if stones == 1 else SELF_ATARI_OF_MANY)
    _add_tactical_priors(worker, board)
    if worker.settings[LEARNED] > 0 and worker.feature_weights:
        _add_learned_priors(worker, board)
