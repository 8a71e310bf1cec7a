"""Stones on a Go board: chains, liberties, captures, areas, and fast playouts.

A vertex is an index into a flat board with a border. Rows are numbered from the bottom and have one
border cell each. A set of vertices is a bitboard.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from random import Random

EMPTY, BLACK, WHITE, BORDER = range(4)
NO_VERTEX = 0  # a border vertex
PASS = -1
# Maximum number of playout moves per vertex of the board. The limit is needed because playouts
# ignore superko.
PLAYOUT_LENGTH_FACTOR = 3


@dataclass(frozen=True, slots=True)
class BoardShape:
    """The geometry of all boards with the same width and height.

    - `step`: the difference between the indices of vertically adjacent vertices.
    - `vertices`: all vertices in order, in rows from the bottom.
    - `on_board`: the set of all vertices.
    - `neighbours`, `diagonals`: the orthogonal and diagonal neighbours of each vertex.
    """

    width: int
    height: int
    step: int
    vertices: tuple[int, ...]
    on_board: int
    neighbours: tuple[tuple[int, ...], ...]
    diagonals: tuple[tuple[int, ...], ...]

    def vertex(self, column: int, row: int) -> int:
        """Return the vertex at a column and row, counted from 0 at the lower left."""
        return (row + 1) * self.step + column + 1

    def coordinates(self, vertex: int) -> tuple[int, int]:
        """Return the column and row of a vertex, counted from 0 at the lower left."""
        row, column = divmod(vertex, self.step)
        return column - 1, row - 1

    def adjacent(self, vertices: int) -> int:
        """Return the vertices adjacent to any vertex in a set. They may belong to the set."""
        step = self.step
        return (vertices << 1 | vertices >> 1 | vertices << step | vertices >> step) & self.on_board

    def flood_fill(self, vertices: int, through: int) -> int:
        """Return the vertices in `through` that are connected to `vertices` within `through`."""
        found = 0
        edge = self.adjacent(vertices) & through
        while edge:
            found |= edge
            edge = self.adjacent(edge) & through & ~found
        return found

    def regions(self, vertices: int) -> Iterator[int]:
        """Yield the connected parts of a set of vertices."""
        while vertices:
            first = vertices & -vertices
            region = first | self.flood_fill(first, vertices)
            yield region
            vertices &= ~region


@cache
def shape(width: int, height: int) -> BoardShape:
    """Return the geometry of boards with this width and height."""
    step = width + 1
    vertices = tuple(
        (row + 1) * step + column + 1 for row in range(height) for column in range(width)
    )
    on_board = set(vertices)

    def beside(vertex: int, steps: Iterable[int]) -> tuple[int, ...]:
        if vertex not in on_board:
            return ()
        return tuple(vertex + by for by in steps if vertex + by in on_board)

    everywhere = range((height + 2) * step + 1)
    return BoardShape(
        width,
        height,
        step,
        vertices,
        sum(1 << vertex for vertex in vertices),
        tuple(beside(vertex, (step, 1, -1, -step)) for vertex in everywhere),
        tuple(beside(vertex, (step - 1, step + 1, -step - 1, 1 - step)) for vertex in everywhere),
    )


def iter_bits(vertices: int) -> Iterable[int]:
    """Generate the vertices in a set in ascending order."""
    while vertices:
        lowest = vertices & -vertices
        yield lowest.bit_length() - 1
        vertices ^= lowest


class Stones:
    """The stones in one position. Copying is cheap, and there is no undo.

    - `board`: the colour of each vertex: EMPTY, BLACK, WHITE or BORDER.
    - `sets`: the bitboards of the empty, black and white vertices.
    - `head`: for each stone, the vertex that represents its chain.
    - `liberties`: the bitboard of each chain's liberties, indexed by `head`.
    - `chains`: the stones of each chain, indexed by `head`.
    - `ko`: the vertex where the ko rule forbids recapture, or NO_VERTEX.
    """

    __slots__ = ("board", "chains", "head", "ko", "liberties", "sets", "shape")

    def __init__(self, width: int, height: int) -> None:
        self.shape = shape(width, height)
        length = len(self.shape.neighbours)
        self.board = [BORDER] * length
        for vertex in self.shape.vertices:
            self.board[vertex] = EMPTY
        self.sets = [self.shape.on_board, 0, 0]
        self.head = [NO_VERTEX] * length
        self.liberties = [0] * length
        self.chains: list[tuple[int, ...]] = [()] * length
        self.ko = NO_VERTEX

    def chain_at(self, vertex: int) -> int:
        """Return the chain of the stone at a vertex, as a bitboard."""
        return sum(1 << stone for stone in self.chains[self.head[vertex]])

    def copy(self) -> Stones:
        """Return an independent copy."""
        stones = Stones.__new__(Stones)
        stones.shape = self.shape
        stones.board = self.board[:]
        stones.sets = self.sets[:]
        stones.head = self.head[:]
        stones.liberties = self.liberties[:]
        stones.chains = self.chains[:]
        stones.ko = self.ko
        return stones

    def put(self, vertex: int, colour: int) -> tuple[int, ...]:
        """Place a stone. Remove and return the captured stones, or the own chain after suicide."""
        board, head, liberties, chains = self.board, self.head, self.liberties, self.chains
        bit = 1 << vertex
        board[vertex] = colour
        self.sets[colour] |= bit
        self.sets[EMPTY] &= ~bit
        free = 0
        stones: tuple[int, ...] = (vertex,)
        largest, joined = vertex, []
        taken: tuple[int, ...] = ()
        for beside in self.shape.neighbours[vertex]:
            met = board[beside]
            if met == EMPTY:
                free |= 1 << beside
            elif met == colour:
                chain = head[beside]
                if chain not in joined:
                    joined.append(chain)
                    if len(chains[chain]) > len(chains[largest]):
                        largest = chain
            else:
                chain = head[beside]
                liberties[chain] &= ~bit
                if not liberties[chain]:
                    taken += self._remove_chain(chain)
        for chain in joined:
            free |= liberties[chain]
            stones += chains[chain]
            if chain != largest:
                for stone in chains[chain]:
                    head[stone] = largest
        head[vertex] = largest
        chains[largest] = stones
        liberties[largest] = free & ~bit
        if not taken and not liberties[largest]:
            taken = self._remove_chain(largest)
            self._restore_liberties(taken)
            self.ko = NO_VERTEX
            return taken
        if taken:
            self._restore_liberties(taken)
        is_ko = len(taken) == 1 and len(stones) == 1 and liberties[largest] == 1 << taken[0]
        self.ko = taken[0] if is_ko else NO_VERTEX
        return taken

    def _remove_chain(self, chain: int) -> tuple[int, ...]:
        stones = self.chains[chain]
        gone = 0
        for stone in stones:
            gone |= 1 << stone
            self.board[stone] = EMPTY
        colour = WHITE if self.sets[WHITE] & gone else BLACK
        self.sets[colour] &= ~gone
        self.sets[EMPTY] |= gone
        return stones

    def _restore_liberties(self, vertices: tuple[int, ...]) -> None:
        board, head, liberties = self.board, self.head, self.liberties
        for vertex in vertices:
            for beside in self.shape.neighbours[vertex]:
                if board[beside] != EMPTY:
                    liberties[head[beside]] |= 1 << vertex

    def is_suicide(self, vertex: int, colour: int) -> bool:
        """Return whether a stone on this vertex would capture nothing and have no liberties."""
        for beside in self.shape.neighbours[vertex]:
            met = self.board[beside]
            if met == EMPTY:
                return False
            free = self.liberties[self.head[beside]]
            # An own chain with another liberty keeps the new stone alive. An enemy chain without
            # another liberty is captured.
            if (met == colour) == bool(free & free - 1):
                return False
        return True

    def captured_by(self, vertex: int, colour: int) -> int:
        """Return the stones that a move to an empty vertex would capture, as a bitboard."""
        bit = 1 << vertex
        captured = 0
        for beside in self.shape.neighbours[vertex]:
            if self.board[beside] == 3 - colour:
                chain = self.head[beside]
                if self.liberties[chain] == bit:
                    for stone in self.chains[chain]:
                        captured |= 1 << stone
        return captured

    def is_own_eye(self, vertex: int, colour: int) -> bool:
        """Return whether an empty vertex looks like an eye of `colour`.

        All neighbours must have this colour. At most one diagonal neighbour may be an enemy stone,
        and none at the edge.
        """
        board = self.board
        for beside in self.shape.neighbours[vertex]:
            if board[beside] != colour:
                return False
        diagonals = self.shape.diagonals[vertex]
        other = 3 - colour
        enemies = 0
        for across in diagonals:
            if board[across] == other:
                enemies += 1
        return enemies < (2 if len(diagonals) == 4 else 1)

    def areas(self) -> tuple[int, int]:
        """Return the areas of Black and White as bitboards, including surrounded empty vertices."""
        empty, black, white = self.sets
        by_black = self.shape.flood_fill(black, empty)
        by_white = self.shape.flood_fill(white, empty)
        return black | by_black & ~by_white, white | by_white & ~by_black

    def _atari_reply(self, last: int, colour: int) -> int:
        """Return a move that captures the last move's chain or saves a chain in atari, or PASS."""
        if last == PASS:
            return PASS
        head, liberties = self.head, self.liberties
        free = liberties[head[last]]
        if not free & free - 1:
            vertex = free.bit_length() - 1
            if vertex != self.ko:
                return vertex
        for beside in self.shape.neighbours[last]:
            if self.board[beside] == colour:
                free = liberties[head[beside]]
                if not free & free - 1:
                    vertex = free.bit_length() - 1
                    after = self.shape.adjacent(free) & self.sets[EMPTY]
                    for other in self.shape.neighbours[vertex]:
                        if self.board[other] == colour:
                            after |= liberties[head[other]]
                    after &= ~free
                    if after & after - 1:
                        return vertex
        return PASS

    def play_out(self, colour: int, passes: int, random: Random) -> list[tuple[int, int]]:
        """Play random moves to the end, in place. Return pairs of a colour and a vertex or PASS.

        Players answer ataris, respect the ko rule, and do not fill their own eyes. They pass if no
        other move remains. Because positions may still repeat, a playout has at most
        PLAYOUT_LENGTH_FACTOR moves per vertex of the board.
        """
        board, sets = self.board, self.sets
        neighbours = self.shape.neighbours
        empty = list(iter_bits(sets[EMPTY]))
        played: list[tuple[int, int]] = []
        max_length = PLAYOUT_LENGTH_FACTOR * len(self.shape.vertices)
        rand = random.random
        while passes < 2 and len(played) < max_length:
            n_empty = len(empty)
            move = PASS if not played else self._atari_reply(played[-1][1], colour)
            start = index = int(rand() * n_empty) if move == PASS else empty.index(move)
            while n_empty and move == PASS:
                vertex = empty[index]
                for beside in neighbours[vertex]:
                    if board[beside] == EMPTY:
                        move = vertex
                        break
                else:
                    if (
                        vertex != self.ko
                        and not self.is_own_eye(vertex, colour)
                        and not self.is_suicide(vertex, colour)
                    ):
                        move = vertex
                if move != PASS:
                    break
                index += 1
                if index == n_empty:
                    index = 0
                if index == start:
                    break
            played.append((colour, move))
            if move == PASS:
                passes += 1
                self.ko = NO_VERTEX
            else:
                passes = 0
                last = empty.pop()
                if index < n_empty - 1:
                    empty[index] = last
                empty.extend(self.put(move, colour))
            colour = 3 - colour
        return played
