"""The rules of Go on a board: chains with exact liberties, captures, ko, and move effects.

Each chain stores the number of its liberties, the sum of their vertices, and the sum of the squares
of these vertices. Up to two liberties are computed from the sums without a search.
"""

import math

from agent.games.stones import BORDER, EMPTY
from agent.go.neighbourhoods import EMPTY_NEIGHBOUR, PATTERN_FLAG
from agent.go.records import NO_VERTEX, PASS, Board
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import Bits, int64, load, load_byte


@kernel
def neighbourhood_flags(board: Board, vertex: int) -> int:
    """Return the neighbourhood flags of a vertex (see `agent.go.neighbourhoods`)."""
    return load_byte(board.neighbourhood_table, int64(board.neighbour_codes[vertex]))


@kernel
def empty_neighbours(shape: int) -> int:
    """Return the number of empty adjacent vertices, from the neighbourhood flags `shape`."""
    return shape // EMPTY_NEIGHBOUR


@kernel
def is_eye(shape: int, colour: int) -> bool:
    """Return whether a vertex with the flags `shape` looks like an eye of `colour`."""
    return (shape & colour) != 0  # see EYE_FLAGS


@kernel
def matches_pattern(shape: int) -> bool:
    """Return whether a move on a vertex with the flags `shape` matches a 3x3 pattern."""
    return (shape & PATTERN_FLAG) != 0


@kernel
def stone_key(board: Board, vertex: int, colour: int) -> Bits:
    return load(board.zobrist_keys, Bits(2 * vertex + colour - 1))


@kernel
def _set_colour(board: Board, vertex: int, colour: int, change: int) -> None:
    """Set a colour and update neighbour codes. `change` is the XOR of the old and new colour."""
    board.colours[vertex] = colour
    for side in range(4):
        # For its northern neighbour, this vertex is in the south.
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
    """Return the liberty of a chain in atari."""
    return int64(board.liberty_sums[head])


@kernel
def greater_liberty(board: Board, head: int) -> int:
    """Return the greater of the two liberties (vertices) of a chain."""
    total, squares = int64(board.liberty_sums[head]), int64(board.liberty_square_sums[head])
    # (a - b)^2 = 2 (a^2 + b^2) - (a + b)^2
    return (total + int64(math.sqrt(2 * squares - total * total) + 0.5)) // 2


@kernel
def is_adjacent_to_chain(board: Board, vertex: int, head: int) -> bool:
    return (
        board.chain_heads[vertex + board.neighbour_offsets[0]] == head
        or board.chain_heads[vertex + board.neighbour_offsets[1]] == head
        or board.chain_heads[vertex + board.neighbour_offsets[2]] == head
        or board.chain_heads[vertex + board.neighbour_offsets[3]] == head
    )


@kernel
def _seen_before_side(board: Board, vertex: int, side: int, head: int) -> bool:
    """Return whether a neighbour on any side from 0 to `side` - 1 belongs to the chain `head`."""
    met = False
    for before in range(side):
        met |= board.chain_heads[vertex + board.neighbour_offsets[before]] == head
    return met


@kernel
def _merge_chains(board: Board, target: int, source: int) -> None:
    stone = source
    while True:
        # Skip liberties that the target chain already has, including those of moved stones.
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
    """Place a legal stone, remove captured chains, and set `last_captured` and `ko`.

    A chain without liberties that captures nothing is removed (suicide).
    """
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
    if board.liberties[head] == 0:
        board.captures += _capture(board, head, colour)
        return
    if taken == 1 and board.chain_sizes[head] == 1 and board.liberties[head] == 1:
        board.ko = captured


@kernel
def play(board: Board, move: int) -> None:
    """Play a legal move or pass for the side to move."""
    if move == PASS:
        board.passes += 1
        if board.button:
            board.passes = 0
            board.button = 0
            board.button_owner = 3 - 2 * board.turn
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
    """Return whether a stone may be placed on an empty vertex, ignoring superko."""
    if empty_neighbours(neighbourhood_flags(board, vertex)) > 0:
        return True
    if vertex == board.ko:
        return False
    for side in range(4):
        beside = vertex + board.neighbour_offsets[side]
        met = board.colours[beside]
        if met != BORDER:
            in_atari = board.liberties[board.chain_heads[beside]] == 1
            # Legal next to a chain of the same colour with another liberty, or a capturable chain.
            if (met == colour) != in_atari:
                return True
    return False


@kernel
def is_group_suicide(board: Board, vertex: int, colour: int) -> bool:
    """Return whether a move that is not legal by `is_legal` is suicide of several stones."""
    found = False
    for side in range(4):
        found |= board.colours[vertex + board.neighbour_offsets[side]] == colour
    return found


@kernel
def self_atari_size(board: Board, vertex: int, colour: int) -> int:
    """Return the size of the chain that a legal move would put into self-atari, or 0."""
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
    """Return the number of stones that a move captures.

    A chain that touches the vertex on several sides is counted once for each side.
    """
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
    """Estimate the liberties of the new stone's chain, up to 3. The move must be legal.

    Empty neighbours, liberties of joined chains, and captured stones are counted.
    """
    first = second = NO_VERTEX
    for side in range(4):
        beside = vertex + board.neighbour_offsets[side]
        met = board.colours[beside]
        extra = second_extra = NO_VERTEX
        if met == EMPTY:
            extra = beside
        elif met == BORDER:
            continue
        else:
            head = int64(board.chain_heads[beside])
            liberties = board.liberties[head]
            if met == colour:
                if liberties > 3:
                    return 3
                if liberties == 3:
                    # The move fills one of at least three liberties. The others are unknown here.
                    return (
                        3
                        if first != NO_VERTEX and not is_adjacent_to_chain(board, first, head)
                        else 2
                    )
                if liberties == 2:
                    extra = int64(board.liberty_sums[head]) - vertex
            elif liberties == 1:
                extra = beside
                if board.chain_sizes[head] > 1:
                    second_extra = head if head != beside else int64(board.next_in_chain[beside])
        for liberty in (extra, second_extra):
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
