"""Playouts: random games guided by simple rules.

Each move comes from the first rule that finds one: a reply to an atari near the last move, the
vital point of a small eye, a liberty of a chain with two liberties, a 3x3 pattern next to the last
move, and a random move that does not fill an own eye. Every rule except the last is applied with a
given probability.

Sources: Gelly et al., 'Modification of UCT with patterns in Monte-Carlo Go' (2006); Baudis and
Gailly, 'Pachi: State of the art open source Go program' (2012).
"""

import numba

from agent.games.stones import BLACK, BORDER, EMPTY
from agent.go.board import (
    empty_neighbours,
    greater_liberty,
    is_eye,
    is_legal,
    liberties_after,
    matches_pattern,
    neighbourhood_flags,
    only_liberty,
    play,
    self_atari_size,
)
from agent.go.records import (
    MAX_CANDIDATES,
    MAX_GAME_MOVES,
    NO_VERTEX,
    PASS,
    Board,
    Worker,
    copy_board,
)
from agent.go.settings import CAPTURE, NAKADE, PATTERN, SELF_ATARI, TWO_LIBERTIES
from agent.kernel.decorators import entry_point, kernel
from agent.kernel.intrinsics import U64, Bits, int64, multiply_high

MAX_EYE_SIZE = 6
# From this size on, self-atari must kill. Smaller chains may be sacrificed for liberties.
MIN_NAKADE_SIZE = 3


@kernel
def random_bits(worker: Worker) -> Bits:
    """Return 64 random bits (Vigna's xorshift64*)."""
    x = worker.random
    x ^= x >> U64(12)
    x ^= x << U64(25)
    x ^= x >> U64(27)
    worker.random = x
    return x * U64(0x2545F4914F6CDD1D)


@kernel
def random_below(worker: Worker, number: int) -> int:
    """Return a random integer from 0 to `number` - 1."""
    return int64(multiply_high(random_bits(worker), U64(number)))


@kernel
def random_event(worker: Worker, setting: int) -> bool:
    """Return True with the probability given by the setting with the index `setting`."""
    return int64(random_bits(worker) >> U64(11)) < worker.settings[setting] * (1 << 53)


@kernel
def _add_candidate(worker: Worker, move: int) -> None:
    if worker.candidate_count < MAX_CANDIDATES:
        worker.candidate_moves[worker.candidate_count] = move
        worker.candidate_count += 1


@kernel
def _is_acceptable(worker: Worker, board: Board, move: int) -> bool:
    size = self_atari_size(board, move, board.turn)
    if size == 0 or (size < MIN_NAKADE_SIZE and not random_event(worker, SELF_ATARI)):
        return True
    return size <= MAX_EYE_SIZE and _is_nakade(worker, board, move)


@kernel
def _is_nakade(worker: Worker, board: Board, move: int) -> bool:
    """Return whether capturing the chain that a self-atari creates leaves the enemy one eye.

    The enemy chains around it must have no other liberties than the new chain had. In a seki, this
    is the only reason to fill a shared liberty.
    """
    colour = board.turn
    worker.mark += 1
    mark = worker.mark
    worker.marks[move] = mark
    worker.queue[0] = move
    size, i, liberty, enemy_sum = 1, 0, NO_VERTEX, 0
    while i < size:
        vertex = int64(worker.queue[i])
        i += 1
        for side in range(4):
            beside = vertex + board.neighbour_offsets[side]
            met = board.colours[beside]
            if met == BORDER or worker.marks[beside] == mark:
                continue
            if met == EMPTY:
                liberty = beside
            elif met == colour:
                if size == MAX_EYE_SIZE:
                    return False
                worker.marks[beside] = mark
                worker.queue[size] = beside
                size += 1
            else:
                head = int64(board.chain_heads[beside])
                if board.liberties[head] > 2:
                    return False
                if board.liberties[head] == 2:
                    liberty_sum = int64(board.liberty_sums[head])
                    if enemy_sum not in (0, liberty_sum):
                        return False
                    enemy_sum = liberty_sum
    if enemy_sum not in (0, move + liberty):
        return False
    is_square = size == 4 and _count_marked(worker, board, move) == 2
    for i in range(size):
        is_square &= _count_marked(worker, board, int64(worker.queue[i])) == 2
    return size < 3 or is_square or _vital_vertex(worker, board, size) != NO_VERTEX


@kernel
def _pick_candidate(worker: Worker, board: Board) -> int:
    while worker.candidate_count > 0:
        i = random_below(worker, worker.candidate_count)
        move = int64(worker.candidate_moves[i])
        worker.candidate_count -= 1
        worker.candidate_moves[i] = worker.candidate_moves[worker.candidate_count]
        if is_legal(board, move, board.turn) and _is_acceptable(worker, board, move):
            return move
    return PASS


@kernel
def add_rescue_candidates(worker: Worker, board: Board, head: int) -> None:
    """Add captures and the extension that may save a chain of the side to move from atari."""
    colour = board.turn
    stone = head
    while True:
        for side in range(4):
            beside = stone + board.neighbour_offsets[side]
            if board.colours[beside] == 3 - colour:
                enemy = int64(board.chain_heads[beside])
                if board.liberties[enemy] == 1:
                    _add_candidate(worker, only_liberty(board, enemy))
        stone = int64(board.next_in_chain[stone])
        if stone == head:
            break
    move = only_liberty(board, head)
    if liberties_after(board, move, colour) > 1:
        _add_candidate(worker, move)


@kernel
def _answer_atari(worker: Worker, board: Board) -> int:
    worker.candidate_count = 0
    last, colour = board.last_move, board.turn
    head = int64(board.chain_heads[last])
    if head != NO_VERTEX and board.colours[last] != colour and board.liberties[head] == 1:
        _add_candidate(worker, only_liberty(board, head))
    for side in range(4):
        beside = last + board.neighbour_offsets[side]
        if board.colours[beside] == colour:
            head = int64(board.chain_heads[beside])
            if board.liberties[head] == 1:
                add_rescue_candidates(worker, board, head)
    if worker.candidate_count == 0:
        return PASS
    return _pick_candidate(worker, board)


@kernel
def _answer_two_liberties(worker: Worker, board: Board) -> int:
    """Return a liberty of a chain with two liberties next to the last move, or PASS."""
    worker.candidate_count = 0
    last, colour = board.last_move, board.turn
    head = int64(board.chain_heads[last])
    if head != NO_VERTEX and board.colours[last] != colour and board.liberties[head] == 2:
        greater = greater_liberty(board, head)
        _add_candidate(worker, greater)
        _add_candidate(worker, int64(board.liberty_sums[head]) - greater)
    for side in range(4):
        beside = last + board.neighbour_offsets[side]
        if board.colours[beside] == colour:
            head = int64(board.chain_heads[beside])
            if board.liberties[head] == 2:
                greater = greater_liberty(board, head)
                lesser = int64(board.liberty_sums[head]) - greater
                if is_legal(board, greater, colour) and liberties_after(board, greater, colour) > 2:
                    _add_candidate(worker, greater)
                if is_legal(board, lesser, colour) and liberties_after(board, lesser, colour) > 2:
                    _add_candidate(worker, lesser)
    if worker.candidate_count == 0:
        return PASS
    return _pick_candidate(worker, board)


@kernel
def _vital_point(worker: Worker, board: Board, start: int) -> int:
    """Return the vital point of the eye that contains an empty vertex, or NO_VERTEX.

    The eye must be surrounded by one colour.
    """
    worker.mark += 1
    mark = worker.mark
    worker.marks[start] = mark
    worker.queue[0] = start
    size, i, around = 1, 0, EMPTY
    while i < size:
        vertex = int64(worker.queue[i])
        i += 1
        for side in range(4):
            beside = vertex + board.neighbour_offsets[side]
            met = board.colours[beside]
            if met == EMPTY:
                if worker.marks[beside] != mark:
                    if size == MAX_EYE_SIZE:
                        return NO_VERTEX
                    worker.marks[beside] = mark
                    worker.queue[size] = beside
                    size += 1
            elif met != BORDER:
                if around == EMPTY:
                    around = met
                elif around != met:
                    return NO_VERTEX
    return _vital_vertex(worker, board, size)


@kernel
def _count_marked(worker: Worker, board: Board, vertex: int) -> int:
    marked = 0
    for side in range(4):
        if worker.marks[vertex + board.neighbour_offsets[side]] == worker.mark:
            marked += 1
    return marked


@kernel
def _vital_vertex(worker: Worker, board: Board, size: int) -> int:
    """Return the vital point of the shape of `size` marked vertices in the queue, or NO_VERTEX.

    A stone on the vital point decides between one eye and two. The shape must have 3 to 6 vertices.
    A bent four in the corner, with the bend in the corner, has one too: it is killed by a ko.
    """
    if size < 3:
        return NO_VERTEX
    max_degree, vital, twos, bend = 0, NO_VERTEX, 0, NO_VERTEX
    for i in range(size):
        vertex = int64(worker.queue[i])
        degree = _count_marked(worker, board, vertex)
        if degree > max_degree:
            max_degree, vital = degree, vertex
        if degree == 2:
            twos += 1
            borders = 0
            for side in range(4):
                if board.colours[vertex + board.neighbour_offsets[side]] == BORDER:
                    borders += 1
            if borders == 2:
                bend = vertex
    if size == 4 and twos == 2 and bend != NO_VERTEX:
        for i in range(size):
            vertex = int64(worker.queue[i])
            if vertex != bend and _count_marked(worker, board, vertex) == 2:
                return vertex
    if size == 3 or (size == 4 and max_degree == 3):
        return vital
    # Five-vertex eyes have a vital point only as a plus or bulky five, and six-vertex eyes only as
    # a rabbity six.
    if size == 5 and (max_degree == 4 or (max_degree == 3 and twos == 3)):
        return vital
    if size == 6 and max_degree == 4 and twos == 3:
        return vital
    return NO_VERTEX


@kernel
def _answer_nakade(worker: Worker, board: Board) -> int:
    for side in range(4):
        beside = board.last_move + board.neighbour_offsets[side]
        if board.colours[beside] == EMPTY:
            vital = _vital_point(worker, board, beside)
            if vital != NO_VERTEX and is_legal(board, vital, board.turn):
                return vital
    return PASS


@kernel
def _answer_pattern(worker: Worker, board: Board) -> int:
    worker.candidate_count = 0
    for side in range(8):
        beside = board.last_move + board.neighbour_offsets[side]
        if board.colours[beside] == EMPTY and matches_pattern(neighbourhood_flags(board, beside)):
            _add_candidate(worker, beside)
    if worker.candidate_count == 0:
        return PASS
    return _pick_candidate(worker, board)


@kernel
def _random_move(worker: Worker, board: Board, careful: bool) -> int:
    colour, number = board.turn, board.empty_count
    if number == 0:
        return PASS
    start = random_below(worker, number)
    i = start
    while True:
        vertex = int64(board.empty_vertices[i])
        shape = neighbourhood_flags(board, vertex)
        if empty_neighbours(shape) > 1:
            return vertex
        possible = not is_eye(shape, colour) and is_legal(board, vertex, colour)
        if possible and (not careful or _is_acceptable(worker, board, vertex)):
            return vertex
        i += 1
        if i == number:
            i = 0
        if i == start:
            return PASS


@kernel
def _choose_move(worker: Worker, board: Board) -> int:
    if board.last_move != PASS:
        move = PASS
        if random_event(worker, CAPTURE):
            move = _answer_atari(worker, board)
        if move == PASS and random_event(worker, NAKADE):
            move = _answer_nakade(worker, board)
        if move == PASS and random_event(worker, TWO_LIBERTIES):
            move = _answer_two_liberties(worker, board)
        if move == PASS and random_event(worker, PATTERN):
            move = _answer_pattern(worker, board)
        if move != PASS:
            return move
    return _random_move(worker, board, True)


@kernel
def max_played_count(worker: Worker) -> int:
    """Return the maximum number of moves of a tree path and its playout together."""
    return min(3 * worker.width * worker.height + worker.played_count, MAX_GAME_MOVES)


@kernel
def play_out(worker: Worker, board: Board, heavy: bool) -> None:
    """Play until both sides pass or the move limit is reached. Moves are random unless `heavy`."""
    max_moves = max_played_count(worker)
    while board.passes < 2 and worker.played_count < max_moves:
        move = _choose_move(worker, board) if heavy else _random_move(worker, board, False)
        play(board, move)
        worker.played_moves[worker.played_count] = move
        worker.played_count += 1


@kernel
def set_owner(worker: Worker, vertex: int, owner: int) -> int:
    """Set the final owner of a vertex (1 Black, -1 White), and return Black's points for it."""
    worker.last_owners[vertex] = owner
    worker.owner_sums[vertex] += owner
    return owner * int64(worker.scored_vertices[vertex])


@kernel
def record_score(worker: Worker, points: int) -> float:
    """Add a playout with Black's `points` to the statistics. Return Black's score after komi."""
    worker.playout_count += 1
    score = points - worker.komi
    worker.score_sum += score
    return score


@kernel
def area_points(worker: Worker, board: Board) -> int:
    """Set the owners of all vertices after a playout, and return Black's points of area."""
    points = 0
    row = board.neighbour_offsets[0]
    for y in range(worker.height):
        for x in range(worker.width):
            vertex = (y + 1) * row + x + 1
            colour = int64(board.colours[vertex])
            owner = 0
            if colour == EMPTY:
                black = white = False
                for side in range(4):
                    met = board.colours[vertex + board.neighbour_offsets[side]]
                    black |= met == BLACK
                    white |= met == 3 - BLACK
                owner = int64(black) - int64(white)
            else:
                owner = 3 - 2 * colour
            points += set_owner(worker, vertex, owner)
    return points


@entry_point(numba.void(Worker, int64, int64))
def run_playouts(worker: Worker, number: int, heavy: int) -> None:
    """Run playouts from the root to collect ownership. Moves are random if `heavy` is 0."""
    board = worker.board
    for _ in range(number):
        if worker.stop:
            return
        copy_board(board, worker.root)
        board.passes = 0  # continue even if the game is over
        worker.played_count = 0
        play_out(worker, board, heavy != 0)
        record_score(worker, area_points(worker, board))
