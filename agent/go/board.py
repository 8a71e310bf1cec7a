"""The rules on a board: chains with exact liberties, captures, ko; and what a move would do.

A chain's head has the number of its liberties, the sum of their vertices and that of the squares,
so that an only liberty is the sum, and two follow from both sums, without a search.
"""

import math

from agent.compiled.kernel import kernel
from agent.compiled.native import Bits, int64, load, load_byte
from agent.games.stones import BORDER, EMPTY
from agent.go.records import NOWHERE, PASS, Board
from agent.go.shapes import FREE, PATTERN


@kernel
def shape_of(board: Board, vertex: int) -> int:
    """Return the flags of what lies around a vertex: see agent.go.shapes."""
    return load_byte(board.shapes, int64(board.codes[vertex]))


@kernel
def free_beside(shape: int) -> int:
    """Return the number of empty vertices directly beside one of this shape."""
    return shape // FREE


@kernel
def is_eye(shape: int, colour: int) -> bool:
    """Tell whether an empty vertex of this shape looks like an eye of a colour."""
    return (shape & colour) != 0  # as EYES has it


@kernel
def is_pattern(shape: int) -> bool:
    """Tell whether a move into this shape is one of the patterns."""
    return (shape & PATTERN) != 0


@kernel
def stone_key(board: Board, vertex: int, colour: int) -> Bits:
    """Return the key of one stone."""
    return load(board.keys, Bits(2 * vertex + colour - 1))


@kernel
def _colour(board: Board, vertex: int, colour: int, change: int) -> None:
    """Give a vertex its colour, and its neighbours a code of it. change: from the last colour."""
    board.colours[vertex] = colour
    for side in range(4):
        # Whoever lies north sees it in the south.
        board.codes[vertex + board.steps[side]] ^= change << 2 * ((side + 2) & 3)
        across = side + 4
        board.codes[vertex + board.steps[across]] ^= change << 2 * (4 + ((side + 2) & 3))


@kernel
def _add_liberty(board: Board, head: int, vertex: int) -> None:
    board.liberties[head] += 1
    board.sums[head] += vertex
    board.squares[head] += vertex * vertex


@kernel
def _take_liberty(board: Board, head: int, vertex: int) -> None:
    board.liberties[head] -= 1
    board.sums[head] -= vertex
    board.squares[head] -= vertex * vertex


@kernel
def only_liberty(board: Board, head: int) -> int:
    """Return the liberty of a chain that has one."""
    return int64(board.sums[head])


@kernel
def greater_liberty(board: Board, head: int) -> int:
    """Return the greater of the liberties of a chain that has two."""
    total, squares = int64(board.sums[head]), int64(board.squares[head])
    # Of a and b the square of the difference is 2 (a a + b b) - (a + b) (a + b).
    return (total + int64(math.sqrt(2 * squares - total * total) + 0.5)) // 2


@kernel
def touches(board: Board, vertex: int, head: int) -> bool:
    """Tell whether a vertex lies beside a chain."""
    return (
        board.heads[vertex + board.steps[0]] == head
        or board.heads[vertex + board.steps[1]] == head
        or board.heads[vertex + board.steps[2]] == head
        or board.heads[vertex + board.steps[3]] == head
    )


@kernel
def _was_met(board: Board, vertex: int, side: int, head: int) -> bool:
    """Tell whether a chain lies beside a vertex on one of the sides before this one too."""
    met = False
    for before in range(side):
        met |= board.heads[vertex + board.steps[before]] == head
    return met


@kernel
def _join(board: Board, target: int, source: int) -> None:
    """Make the stones of one chain part of another."""
    stone = source
    while True:
        # Liberties beside both are there already; heads change as the stones come over.
        for side in range(4):
            beside = stone + board.steps[side]
            if board.colours[beside] == EMPTY and not touches(board, beside, target):
                _add_liberty(board, target, beside)
        board.heads[stone] = target
        stone = int64(board.nexts[stone])
        if stone == source:
            break
    board.sizes[target] += board.sizes[source]
    board.nexts[target], board.nexts[source] = board.nexts[source], board.nexts[target]


@kernel
def _capture(board: Board, head: int, colour: int) -> int:
    """Take a chain of a colour off the board; return how many stones it had."""
    stone = head
    while True:
        _colour(board, stone, EMPTY, colour)
        board.heads[stone] = NOWHERE
        board.key ^= stone_key(board, stone, colour)
        board.places[stone] = board.empty
        board.empties[board.empty] = stone
        board.empty += 1
        stone = int64(board.nexts[stone])
        if stone == head:
            break
    while True:
        for side in range(4):
            other = int64(board.heads[stone + board.steps[side]])
            if other != NOWHERE and not _was_met(board, stone, side, other):
                _add_liberty(board, other, stone)
        stone = int64(board.nexts[stone])
        if stone == head:
            break
    return int64(board.sizes[head])


@kernel
def put(board: Board, vertex: int, colour: int) -> None:
    """Put a stone where it may be put, and take off what it captures; sets `taken` and `ko`."""
    board.empty -= 1
    hole, mover = int64(board.places[vertex]), int64(board.empties[board.empty])
    board.empties[hole] = mover
    board.places[mover] = hole
    _colour(board, vertex, colour, colour)
    board.key ^= stone_key(board, vertex, colour)
    board.heads[vertex] = board.nexts[vertex] = vertex
    board.sizes[vertex] = 1
    board.liberties[vertex] = board.sums[vertex] = board.squares[vertex] = 0
    enemy = 3 - colour
    for side in range(4):
        beside = vertex + board.steps[side]
        met = board.colours[beside]
        if met == EMPTY:
            _add_liberty(board, vertex, beside)
        elif met != BORDER:
            head = int64(board.heads[beside])
            if not _was_met(board, vertex, side, head):
                _take_liberty(board, head, vertex)
    taken, captured = 0, NOWHERE
    for side in range(4):
        beside = vertex + board.steps[side]
        if board.colours[beside] == enemy:
            head = int64(board.heads[beside])
            if board.liberties[head] == 0:
                taken += _capture(board, head, enemy)
                captured = beside
    head = vertex
    for side in range(4):
        beside = vertex + board.steps[side]
        if board.colours[beside] == colour:
            other = int64(board.heads[beside])
            if other == head:
                continue
            if board.sizes[other] > board.sizes[head]:
                head, other = other, head
            _join(board, head, other)
    board.taken = taken
    board.captures += taken
    board.ko = NOWHERE
    if taken == 1 and board.sizes[head] == 1 and board.liberties[head] == 1:
        board.ko = captured


@kernel
def play(board: Board, move: int) -> None:
    """Make a legal move of whoever is to move, or pass."""
    if move == PASS:
        board.passes += 1
        board.ko = NOWHERE
        board.taken = 0
    else:
        put(board, move, board.turn)
        board.passes = 0
    board.earlier = board.last
    board.last = move
    board.turn = 3 - board.turn


@kernel
def is_legal(board: Board, vertex: int, colour: int) -> bool:
    """Tell whether a stone may be put on an empty vertex, by all rules but superko."""
    if free_beside(shape_of(board, vertex)) > 0:
        return True
    if vertex == board.ko:
        return False
    for side in range(4):
        beside = vertex + board.steps[side]
        met = board.colours[beside]
        if met != BORDER:
            in_atari = board.liberties[board.heads[beside]] == 1
            # Another liberty saves an own chain, and with it the stone; others are captured.
            if (met == colour) != in_atari:
                return True
    return False


@kernel
def self_atari(board: Board, vertex: int, colour: int) -> int:
    """Return how large a chain a legal move would put into atari; 0 if it would not."""
    if free_beside(shape_of(board, vertex)) > 1:
        return 0
    liberty, size = NOWHERE, 1
    for side in range(4):
        beside = vertex + board.steps[side]
        met = board.colours[beside]
        if met == EMPTY:
            if liberty != NOWHERE and liberty != beside:
                return 0
            liberty = beside
        elif met == colour:
            head = int64(board.heads[beside])
            liberties = board.liberties[head]
            if liberties > 2:
                return 0
            if liberties == 2:
                other = int64(board.sums[head]) - vertex
                if liberty != NOWHERE and liberty != other:
                    return 0
                liberty = other
            if not _was_met(board, vertex, side, head):
                size += board.sizes[head]
        elif met != BORDER:
            head = int64(board.heads[beside])
            if board.liberties[head] == 1:
                if board.sizes[head] > 1 or (liberty != NOWHERE and liberty != beside):
                    return 0
                liberty = beside
    return size


@kernel
def would_capture(board: Board, vertex: int, colour: int) -> int:
    """Return how many stones a legal move would take, those of a chain counted once a side."""
    taken = 0
    for side in range(4):
        beside = vertex + board.steps[side]
        if board.colours[beside] == 3 - colour:
            head = int64(board.heads[beside])
            if board.liberties[head] == 1:
                taken += board.sizes[head]
    return taken


@kernel
def liberties_after(board: Board, vertex: int, colour: int) -> int:
    """Return how many liberties a chain would have at least after a legal move, up to 3.

    Counted are free neighbours, what joined chains have elsewhere, and one for each capture.
    """
    first = second = NOWHERE
    for side in range(4):
        beside = vertex + board.steps[side]
        met = board.colours[beside]
        found = other = NOWHERE
        if met == EMPTY:
            found = beside
        elif met == BORDER:
            continue
        else:
            head = int64(board.heads[beside])
            liberties = board.liberties[head]
            if met == colour:
                if liberties > 3:
                    return 3
                if liberties == 3:
                    # Of the three one is filled; which two are left is not known at once.
                    return 3 if first != NOWHERE and not touches(board, first, head) else 2
                if liberties == 2:
                    found = int64(board.sums[head]) - vertex
            elif liberties == 1:
                found = beside
                if board.sizes[head] > 1:
                    other = head if head != beside else int64(board.nexts[beside])
        for liberty in (found, other):
            if liberty in (NOWHERE, first, second):
                continue
            if first == NOWHERE:
                first = liberty
            elif second == NOWHERE:
                second = liberty
            else:
                return 3
    if second != NOWHERE:
        return 2
    return 1 if first != NOWHERE else 0
