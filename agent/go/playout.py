"""Playouts: the game played on to its end, half at random, half by what every player sees.

The first of these that finds a move decides, each but the last only with its probability:
an answer to atari around the last move, the vital point of a small eye, an attack on a chain
with two liberties, a 3x3 pattern beside the last move; then any move that fills no own eye.
Sources: Gelly et al., 'Modification of UCT with patterns in Monte-Carlo Go' (2006); Baudis and
Gailly, 'Pachi: State of the art open source Go program' (2012).
"""

import numba

from agent.compiled.kernel import entry, kernel
from agent.compiled.native import U64, Bits, int64, multiply_high
from agent.games.stones import BLACK, BORDER, EMPTY
from agent.go.board import (
    free_beside,
    greater_liberty,
    is_eye,
    is_legal,
    is_pattern,
    liberties_after,
    only_liberty,
    play,
    self_atari,
    shape_of,
)
from agent.go.records import CANDIDATES, LONGEST, NOWHERE, PASS, Board, Worker, copy_board
from agent.go.settings import CAPTURE, NAKADE, PATTERN, SELF_ATARI, TWO_LIBERTIES

# A chain from so many stones on is never put into atari by its own side: it cannot be a nakade.
BIG = 6
LARGEST_EYE = 6


@kernel
def draw(worker: Worker) -> Bits:
    """Return a random number of 64 bits (Vigna's xorshift64*)."""
    x = worker.random
    x ^= x >> U64(12)
    x ^= x << U64(25)
    x ^= x >> U64(27)
    worker.random = x
    return x * U64(0x2545F4914F6CDD1D)


@kernel
def below(worker: Worker, number: int) -> int:
    """Return a random number from 0 to number - 1."""
    return int64(multiply_high(draw(worker), U64(number)))


@kernel
def happens(worker: Worker, setting: int) -> bool:
    """Tell whether what has a probability happens this time."""
    return int64(draw(worker) >> U64(11)) < worker.settings[setting] * (1 << 53)


@kernel
def _propose(worker: Worker, move: int) -> None:
    if worker.candidates < CANDIDATES:
        worker.chosen[worker.candidates] = move
        worker.candidates += 1


@kernel
def _acceptable(worker: Worker, board: Board, move: int) -> bool:
    """Tell whether to make a legal move, as far as it puts own stones into atari."""
    size = self_atari(board, move, board.turn)
    return size == 0 or (size < BIG and not happens(worker, SELF_ATARI))


@kernel
def _pick(worker: Worker, board: Board) -> int:
    """Return one of the candidates by chance, PASS if none will do."""
    while worker.candidates > 0:
        number = below(worker, worker.candidates)
        move = int64(worker.chosen[number])
        worker.candidates -= 1
        worker.chosen[number] = worker.chosen[worker.candidates]
        if is_legal(board, move, board.turn) and _acceptable(worker, board, move):
            return move
    return PASS


@kernel
def propose_rescue(worker: Worker, board: Board, head: int) -> None:
    """Propose the moves that save a chain of the mover's in atari: captures, and running away."""
    colour = board.turn
    stone = head
    while True:
        for side in range(4):
            beside = stone + board.steps[side]
            if board.colours[beside] == 3 - colour:
                enemy = int64(board.heads[beside])
                if board.liberties[enemy] == 1:
                    _propose(worker, only_liberty(board, enemy))
        stone = int64(board.nexts[stone])
        if stone == head:
            break
    move = only_liberty(board, head)
    if liberties_after(board, move, colour) > 1:
        _propose(worker, move)


@kernel
def _answer_atari(worker: Worker, board: Board) -> int:
    """Return a capture, or a rescue, of a chain that the last move touches; or PASS."""
    worker.candidates = 0
    last, colour = board.last, board.turn
    head = int64(board.heads[last])
    if head != NOWHERE and board.colours[last] != colour and board.liberties[head] == 1:
        _propose(worker, only_liberty(board, head))
    for side in range(4):
        beside = last + board.steps[side]
        if board.colours[beside] == colour:
            head = int64(board.heads[beside])
            if board.liberties[head] == 1:
                propose_rescue(worker, board, head)
    if worker.candidates == 0:
        return PASS
    return _pick(worker, board)


@kernel
def _answer_two_liberties(worker: Worker, board: Board) -> int:
    """Return a move on the liberties of a chain with two that the last move touches; or PASS.

    An own one gets more of them, the other's is put into atari.
    """
    worker.candidates = 0
    last, colour = board.last, board.turn
    head = int64(board.heads[last])
    if head != NOWHERE and board.colours[last] != colour and board.liberties[head] == 2:
        greater = greater_liberty(board, head)
        _propose(worker, greater)
        _propose(worker, int64(board.sums[head]) - greater)
    for side in range(4):
        beside = last + board.steps[side]
        if board.colours[beside] == colour:
            head = int64(board.heads[beside])
            if board.liberties[head] == 2:
                greater = greater_liberty(board, head)
                lesser = int64(board.sums[head]) - greater
                if is_legal(board, greater, colour) and liberties_after(board, greater, colour) > 2:
                    _propose(worker, greater)
                if is_legal(board, lesser, colour) and liberties_after(board, lesser, colour) > 2:
                    _propose(worker, lesser)
    if worker.candidates == 0:
        return PASS
    return _pick(worker, board)


@kernel
def _vital_point(worker: Worker, board: Board, start: int) -> int:
    """Return the vital point of the eye that an empty vertex belongs to; NOWHERE without one.

    The eye has 3 to 6 vertices, and stones of one colour around it. A point is vital that has so
    many neighbours in the eye that one colour's stone there keeps the other from two eyes.
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
            beside = vertex + board.steps[side]
            met = board.colours[beside]
            if met == EMPTY:
                if worker.marks[beside] != mark:
                    if size == LARGEST_EYE:
                        return NOWHERE
                    worker.marks[beside] = mark
                    worker.queue[size] = beside
                    size += 1
            elif met != BORDER:
                if around == EMPTY:
                    around = met
                elif around != met:
                    return NOWHERE
    if size < 3:
        return NOWHERE
    most, vital, twos = 0, NOWHERE, 0
    for i in range(size):
        vertex = int64(worker.queue[i])
        degree = 0
        for side in range(4):
            if worker.marks[vertex + board.steps[side]] == mark:
                degree += 1
        if degree > most:
            most, vital = degree, vertex
        if degree == 2:
            twos += 1
    if size == 3 or (size == 4 and most == 3):
        return vital
    # Of five a cross or a square with a tail; of six a square with two tails: others live.
    if size == 5 and (most == 4 or (most == 3 and twos == 3)):
        return vital
    if size == 6 and most == 4 and twos == 3:
        return vital
    return NOWHERE


@kernel
def _answer_nakade(worker: Worker, board: Board) -> int:
    """Return the vital point of a small eye beside the last move; or PASS."""
    for side in range(4):
        beside = board.last + board.steps[side]
        if board.colours[beside] == EMPTY:
            vital = _vital_point(worker, board, beside)
            if vital != NOWHERE and is_legal(board, vital, board.turn):
                return vital
    return PASS


@kernel
def _answer_pattern(worker: Worker, board: Board) -> int:
    """Return a move beside the last one that is a pattern; or PASS."""
    worker.candidates = 0
    for side in range(8):
        beside = board.last + board.steps[side]
        if board.colours[beside] == EMPTY and is_pattern(shape_of(board, beside)):
            _propose(worker, beside)
    if worker.candidates == 0:
        return PASS
    return _pick(worker, board)


@kernel
def _anywhere(worker: Worker, board: Board, careful: bool) -> int:
    """Return a move by chance that fills no eye; PASS if there is none."""
    colour, number = board.turn, board.empty
    if number == 0:
        return PASS
    start = below(worker, number)
    i = start
    while True:
        vertex = int64(board.empties[i])
        shape = shape_of(board, vertex)
        if free_beside(shape) > 1:
            return vertex
        possible = not is_eye(shape, colour) and is_legal(board, vertex, colour)
        if possible and (not careful or _acceptable(worker, board, vertex)):
            return vertex
        i += 1
        if i == number:
            i = 0
        if i == start:
            return PASS


@kernel
def _choose(worker: Worker, board: Board) -> int:
    """Return the move of a playout."""
    if board.last != PASS:
        move = PASS
        if happens(worker, CAPTURE):
            move = _answer_atari(worker, board)
        if move == PASS and happens(worker, NAKADE):
            move = _answer_nakade(worker, board)
        if move == PASS and happens(worker, TWO_LIBERTIES):
            move = _answer_two_liberties(worker, board)
        if move == PASS and happens(worker, PATTERN):
            move = _answer_pattern(worker, board)
        if move != PASS:
            return move
    return _anywhere(worker, board, True)


@kernel
def longest(worker: Worker) -> int:
    """Return the most moves that a line and its playout may have."""
    return min(3 * worker.width * worker.height + worker.length, LONGEST)


@kernel
def play_out(worker: Worker, board: Board, heavy: bool) -> None:
    """Play on until both have passed, or for too long; the moves are noted in the trace."""
    most = longest(worker)
    while board.passes < 2 and worker.length < most:
        move = _choose(worker, board) if heavy else _anywhere(worker, board, False)
        play(board, move)
        worker.played[worker.length] = move
        worker.length += 1


@kernel
def claim(worker: Worker, vertex: int, owner: int) -> int:
    """Note whose a vertex is in the end, 1 Black's, -1 White's; return its points for Black."""
    worker.owners[vertex] = owner
    worker.owned[vertex] += owner
    return owner * int64(worker.counted[vertex])


@kernel
def finish(worker: Worker, points: int) -> float:
    """Note a playout's end; return its score: Black's points less White's, and less komi."""
    worker.finished += 1
    score = points - worker.komi
    worker.points += score
    return score


@kernel
def area(worker: Worker, board: Board) -> float:
    """Return Black's area less White's and komi, and note whose each vertex is.

    After a playout each empty vertex is an eye, or in a seki, and belongs to who is beside it.
    """
    points = 0
    row = board.steps[0]
    for y in range(worker.height):
        for x in range(worker.width):
            vertex = (y + 1) * row + x + 1
            colour = int64(board.colours[vertex])
            owner = 0
            if colour == EMPTY:
                black = white = False
                for side in range(4):
                    met = board.colours[vertex + board.steps[side]]
                    black |= met == BLACK
                    white |= met == 3 - BLACK
                owner = int64(black) - int64(white)
            else:
                owner = 3 - 2 * colour
            points += claim(worker, vertex, owner)
    return finish(worker, points)


@entry(numba.void(Worker, int64, int64))
def many_playouts(worker: Worker, number: int, heavy: int) -> None:
    """Make so many playouts from the root, to learn whose each vertex is. heavy: 0 for light."""
    board = worker.board
    for _ in range(number):
        if worker.stop:
            return
        copy_board(board, worker.root)
        board.passes = 0  # also where the game is over
        worker.length = 0
        play_out(worker, board, heavy != 0)
        area(worker, board)
