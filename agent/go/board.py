"""The rules on a board: chains with exact liberties, captures, ko; and what a move would do.

A chain's head has the number of its liberties, the sum of their vertices and that of the squares,
so that an only liberty is the sum, and two follow from both sums, without a search.
"""

import math

from agent.games.stones import BORDER, EMPTY
from agent.go.neighbourhoods import EMPTY_NEIGHBOUR, PATTERN_FLAG
from agent.go.records import NO_VERTEX, PASS, Board
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import Bits, int64, load, load_byte


@kernel
def neighbourhood_flags(board: Board, vertex: int) -> int:
    """Return the flags of what lies around a vertex: see agent.go.neighbourhoods."""
    return load_byte(board.neighbourhood_table, int64(board.neighbour_codes[vertex]))


@kernel
def empty_neighbours(shape: int) -> int:
    """Return the number of empty vertices directly beside one of this shape."""
    return shape // EMPTY_NEIGHBOUR


@kernel
def is_eye(shape: int, colour: int) -> bool:
    """Tell whether an empty vertex of this shape looks like an eye of a colour."""
    return (shape & colour) != 0  # as EYES has it


@kernel
def matches_pattern(shape: int) -> bool:
    """Tell whether a move into this shape is one of the patterns."""
    return (shape & PATTERN_FLAG) != 0


@kernel
def stone_key(board: Board, vertex: int, colour: int) -> Bits:
    """Return the key of one stone."""
    return load(board.zobrist_keys, Bits(2 * vertex + colour - 1))


@kernel
def _set_colour(board: Board, vertex: int, colour: int, change: int) -> None:
    """Give a vertex its colour, and its neighbours a code of it. change: from the last colour."""
    board.colours[vertex] = colour
    for side in range(4):
        # Whoever lies north sees it in the south.
        board.neighbour_codes[vertex + board.neighbour_offsets[side]] ^= change << 2 * (
            (side + 2) & 3
        )
        across = side + 4
        board.neighbour_codes[vertex + board.neighbour_offsets[across]] ^= change << 2 * (
            4 + ((side + 2) & 3)
        )


@kernel
def _add_liberty(board: Board, head: int, vertex: int) -> None:
    board.liberties[head] += 1
    board.liberty_sums[head] += vertex
    board.liberty_square_sums[head] += vertex * vertex


@kernel
def _remove_liberty(board: Board, head: int, vertex: int) -> None:
    board.liberties[head] -= 1
    board.liberty_sums[head] -= vertex
    board.liberty_square_sums[head] -= vertex * vertex


@kernel
def only_liberty(board: Board, head: int) -> int:
    """Return the liberty of a chain that has one."""
    return int64(board.liberty_sums[head])


@kernel
def greater_liberty(board: Board, head: int) -> int:
    """Return the greater of the liberties of a chain that has two."""
    total, squares = int64(board.liberty_sums[head]), int64(board.liberty_square_sums[head])
    # Of a and b the square of the difference is 2 (a a + b b) - (a + b) (a + b).
    return (total + int64(math.sqrt(2 * squares - total * total) + 0.5)) // 2


@kernel
def is_adjacent_to_chain(board: Board, vertex: int, head: int) -> bool:
    """Tell whether a vertex lies beside a chain."""
    return (
        board.chain_heads[vertex + board.neighbour_offsets[0]] == head
        or board.chain_heads[vertex + board.neighbour_offsets[1]] == head
        or board.chain_heads[vertex + board.neighbour_offsets[2]] == head
        or board.chain_heads[vertex + board.neighbour_offsets[3]] == head
    )


@kernel
def _seen_before_side(board: Board, vertex: int, side: int, head: int) -> bool:
    """Tell whether a chain lies beside a vertex on one of the sides before this one too."""
    met = False
    for before in range(side):
        met |= board.chain_heads[vertex + board.neighbour_offsets[before]] == head
    return met


@kernel
def _merge_chains(board: Board, target: int, source: int) -> None:
    """Make the stones of one chain part of another."""
    stone = source
    while True:
        # Liberties beside both are there already; heads change as the stones come over.
        for side in range(4):
            beside = stone + board.neighbour_offsets[side]
            if board.colours[beside] == EMPTY and not is_adjacent_to_chain(board, beside, target):
                _add_liberty(board, target, beside)
        board.chain_heads[stone] = target
        stone = int64(board.next_in_chain[stone])
        if stone == source:
            break
    board.chain_sizes[target] += board.chain_sizes[source]
    board.next_in_chain[target], board.next_in_chain[source] = (
        board.next_in_chain[source],
        board.next_in_chain[target],
    )


@kernel
def _capture(board: Board, head: int, colour: int) -> int:
    """Take a chain of a colour off the board; return how many stones it had."""
    stone = head
    while True:
        _set_colour(board, stone, EMPTY, colour)
        board.chain_heads[stone] = NO_VERTEX
        board.key ^= stone_key(board, stone, colour)
        board.empty_index[stone] = board.empty_count
        board.empty_vertices[board.empty_count] = stone
        board.empty_count += 1
        stone = int64(board.next_in_chain[stone])
        if stone == head:
            break
    while True:
        for side in range(4):
            other = int64(board.chain_heads[stone + board.neighbour_offsets[side]])
            if other != NO_VERTEX and not _seen_before_side(board, stone, side, other):
                _add_liberty(board, other, stone)
        stone = int64(board.next_in_chain[stone])
        if stone == head:
            break
    return int64(board.chain_sizes[head])


@kernel
def place_stone(board: Board, vertex: int, colour: int) -> None:
    """Put a stone where it may be put, and take off what it captures; sets `taken` and `ko`."""
    board.empty_count -= 1
    hole, mover = int64(board.empty_index[vertex]), int64(board.empty_vertices[board.empty_count])
    board.empty_vertices[hole] = mover
    board.empty_index[mover] = hole
    _set_colour(board, vertex, colour, colour)
    board.key ^= stone_key(board, vertex, colour)
    board.chain_heads[vertex] = board.next_in_chain[vertex] = vertex
    board.chain_sizes[vertex] = 1
    board.liberties[vertex] = board.liberty_sums[vertex] = board.liberty_square_sums[vertex] = 0
    enemy = 3 - colour
    for side in range(4):
        beside = vertex + board.neighbour_offsets[side]
        met = board.colours[beside]
        if met == EMPTY:
            _add_liberty(board, vertex, beside)
        elif met != BORDER:
            head = int64(board.chain_heads[beside])
            if not _seen_before_side(board, vertex, side, head):
                _remove_liberty(board, head, vertex)
    taken, captured = 0, NO_VERTEX
    for side in range(4):
        beside = vertex + board.neighbour_offsets[side]
        if board.colours[beside] == enemy:
            head = int64(board.chain_heads[beside])
            if board.liberties[head] == 0:
                taken += _capture(board, head, enemy)
                captured = beside
    head = vertex
    for side in range(4):
        beside = vertex + board.neighbour_offsets[side]
        if board.colours[beside] == colour:
            other = int64(board.chain_heads[beside])
            if other == head:
                continue
            if board.chain_sizes[other] > board.chain_sizes[head]:
                head, other = other, head
            _merge_chains(board, head, other)
    board.last_captured = taken
    board.captures += taken
    board.ko = NO_VERTEX
    if taken == 1 and board.chain_sizes[head] == 1 and board.liberties[head] == 1:
        board.ko = captured


@kernel
def play(board: Board, move: int) -> None:
    """Make a legal move of whoever is to move, or pass."""
    if move == PASS:
        board.passes += 1
        board.ko = NO_VERTEX
        board.last_captured = 0
    else:
        place_stone(board, move, board.turn)
        board.passes = 0
    board.previous_move = board.last_move
    board.last_move = move
    board.turn = 3 - board.turn


@kernel
def is_legal(board: Board, vertex: int, colour: int) -> bool:
    """Tell whether a stone may be put on an empty vertex, by all rules but superko."""
    if empty_neighbours(neighbourhood_flags(board, vertex)) > 0:
        return True
    if vertex == board.ko:
        return False
    for side in range(4):
        beside = vertex + board.neighbour_offsets[side]
        met = board.colours[beside]
        if met != BORDER:
            in_atari = board.liberties[board.chain_heads[beside]] == 1
            # Another liberty saves an own chain, and with it the stone; others are captured.
            if (met == colour) != in_atari:
                return True
    return False


@kernel
def self_atari_size(board: Board, vertex: int, colour: int) -> int:
    """Return how large a chain a legal move would put into atari; 0 if it would not."""
    if empty_neighbours(neighbourhood_flags(board, vertex)) > 1:
        return 0
    liberty, size = NO_VERTEX, 1
    for side in range(4):
        beside = vertex + board.neighbour_offsets[side]
        met = board.colours[beside]
        if met == EMPTY:
            if liberty != NO_VERTEX and liberty != beside:
                return 0
            liberty = beside
        elif met == colour:
            head = int64(board.chain_heads[beside])
            liberties = board.liberties[head]
            if liberties > 2:
                return 0
            if liberties == 2:
                other = int64(board.liberty_sums[head]) - vertex
                if liberty != NO_VERTEX and liberty != other:
                    return 0
                liberty = other
            if not _seen_before_side(board, vertex, side, head):
                size += board.chain_sizes[head]
        elif met != BORDER:
            head = int64(board.chain_heads[beside])
            if board.liberties[head] == 1:
                if board.chain_sizes[head] > 1 or (liberty != NO_VERTEX and liberty != beside):
                    return 0
                liberty = beside
    return size


@kernel
def count_captured(board: Board, vertex: int, colour: int) -> int:
    """Return how many stones a legal move would take, those of a chain counted once a side."""
    taken = 0
    for side in range(4):
        beside = vertex + board.neighbour_offsets[side]
        if board.colours[beside] == 3 - colour:
            head = int64(board.chain_heads[beside])
            if board.liberties[head] == 1:
                taken += board.chain_sizes[head]
    return taken


@kernel
def liberties_after(board: Board, vertex: int, colour: int) -> int:
    """Return how many liberties a chain would have at least after a legal move, up to 3.

    Counted are free neighbours, what joined chains have elsewhere, and one for each capture.
    """
    first = second = NO_VERTEX
    for side in range(4):
        beside = vertex + board.neighbour_offsets[side]
        met = board.colours[beside]
        found = other = NO_VERTEX
        if met == EMPTY:
            found = beside
        elif met == BORDER:
            continue
        else:
            head = int64(board.chain_heads[beside])
            liberties = board.liberties[head]
            if met == colour:
                if liberties > 3:
                    return 3
                if liberties == 3:
                    # Of the three one is filled; which two are left is not known at once.
                    return (
                        3
                        if first != NO_VERTEX and not is_adjacent_to_chain(board, first, head)
                        else 2
                    )
                if liberties == 2:
                    found = int64(board.liberty_sums[head]) - vertex
            elif liberties == 1:
                found = beside
                if board.chain_sizes[head] > 1:
                    other = head if head != beside else int64(board.next_in_chain[beside])
        for liberty in (found, other):
            if liberty in (NO_VERTEX, first, second):
                continue
            if first == NO_VERTEX:
                first = liberty
            elif second == NO_VERTEX:
                second = liberty
            else:
                return 3
    if second != NO_VERTEX:
        return 2
    return 1 if first != NO_VERTEX else 0
