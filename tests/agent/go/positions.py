"""Positions to test the compiled Go search, and entry points that call its kernels."""

from functools import cache
from random import Random

import numba
import numpy as np
import numpy.typing as npt

from agent.games.go import Go, format_size, parse_size
from agent.games.stones import EMPTY, NO_VERTEX, PASS, Stones, iter_bits, shape
from agent.go.board import (
    count_captured,
    is_eye,
    is_legal,
    liberties_after,
    matches_pattern,
    neighbourhood_flags,
    self_atari_size,
)
from agent.go.kernel_board import KernelBoard
from agent.go.mcts import _is_repetition
from agent.go.records import Worker
from agent.kernel.bits import U64
from agent.kernel.intrinsics import Bits, int64
from tests.support import compiled_when_called

LEGAL, EYE, PATTERN, SELF_ATARI, CAPTURES, LIBERTIES = range(6)
SIDES = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, -1), (-1, 1))


@compiled_when_called(numba.void(Worker, int64, int64[:, ::1]))
def _survey(worker: Worker, colour: int, found: npt.NDArray[np.int64]) -> None:
    board = worker.root
    for i in range(board.empty_count):
        vertex = int64(board.empty_vertices[i])
        shape = neighbourhood_flags(board, vertex)
        found[vertex, 0] = is_legal(board, vertex, colour)
        found[vertex, 1] = is_eye(shape, colour)
        found[vertex, 2] = matches_pattern(shape)
        found[vertex, 3] = self_atari_size(board, vertex, colour)
        found[vertex, 4] = count_captured(board, vertex, colour)
        found[vertex, 5] = liberties_after(board, vertex, colour)


@compiled_when_called(int64(Worker, numba.uint64))
def _in_the_game(worker: Worker, key: Bits) -> int:
    return int64(_is_repetition(worker, key, 0, -1))


def in_the_game(board: KernelBoard, position: tuple[int, int]) -> bool:
    """Return whether the kernel's superko history contains a position."""
    return bool(_in_the_game(board.worker, U64(board.zobrist_key(*position))))


def survey(board: KernelBoard, colour: int) -> npt.NDArray[np.int64]:
    """Return the kernels' results for every empty vertex of the root, by column."""
    found = np.zeros((len(board.worker.root.colours), 6), np.int64)
    _survey(board.worker, colour, found)
    return found


def random_move(game: Go, random: Random) -> int:
    """Return a random legal move, preferring captures, ataris and kos; rarely PASS."""
    moves = [move for move in game.moves() if move != PASS]
    if not moves or random.random() < 0.02:
        return PASS
    colour, stones = game.turn + 1, game.stones
    if random.random() < 0.5:
        captures = [move for move in moves if stones.captured_by(move, colour)]
        if captures:
            return random.choice(captures)
    if random.random() < 0.5:
        weak = {
            liberty
            for vertex in iter_bits(stones.sets[1] | stones.sets[2])
            if (free := stones.liberties[stones.head[vertex]]).bit_count() < 3
            for liberty in iter_bits(free)
        }
        near = [move for move in moves if move in weak]
        if near:
            return random.choice(near)
    return random.choice(moves)


def random_game(size: int | str, random: Random, max_plies: int | None = None) -> Go:
    """Return an unfinished position of a random game."""
    game = Go(size, komi=0.5)
    for _ in range(random.randrange(max_plies or 2 * game.width * game.height)):
        game.play(random_move(game, random))
        if game.is_over():
            game.undo()
            break
    return game


def from_diagram(*rows: str, komi: float = 0.5, turn: int = 0) -> Go:
    """Return a position from rows of X, O and dots."""
    game = Go(format_size(len(rows[0]), len(rows)), komi)
    for player, sign in enumerate("XO"):
        vertices = [
            game.stones.shape.vertex(column, len(rows) - 1 - line)
            for line, row in enumerate(rows)
            for column, found in enumerate(row)
            if found == sign
        ]
        game.set_up(player, vertices)
    if game.turn != turn:
        game.set_turn(turn)
    return game


def at(game: Go, text: str) -> int:
    """Return the vertex of a text such as A1."""
    column, row = "ABCDEFGHJKLMNOPQRST".index(text[0]), int(text[1:]) - 1
    return game.stones.shape.vertex(column, row)


@cache
def symmetry(size: int | str, number: int) -> dict[int, int]:
    """Return the image of each vertex in one of the 8 symmetries (from 4 on with swapped axes)."""
    width, height = parse_size(size)
    source = shape(width, height)
    target = shape(height, width) if number & 4 else source
    images = {PASS: PASS}
    for vertex in source.vertices:
        x, y = source.coordinates(vertex)
        if number & 1:
            x = width - 1 - x
        if number & 2:
            y = height - 1 - y
        if number & 4:
            x, y = y, x
        images[vertex] = target.vertex(x, y)
    return images


def turned(game: Go, number: int, swap: bool) -> Go:
    """Return a position in one of the 8 symmetries, optionally with colours swapped."""
    taken = symmetry(game.size, number)
    edges = (game.height, game.width) if number & 4 else (game.width, game.height)
    other = Go(format_size(*edges), game.komi)
    for player in (0, 1):
        stones = iter_bits(game.stones.sets[player + 1])
        other.set_up(player ^ swap, [taken[vertex] for vertex in stones])
    if other.turn != game.turn ^ swap:
        other.set_turn(game.turn ^ swap)
    return other


def after(stones: Stones, vertex: int, colour: int) -> tuple[Stones, int, int]:
    """Return the position after a stone, the size of its chain, and its number of liberties."""
    changed = stones.copy()
    changed.put(vertex, colour)
    head = changed.head[vertex]
    return changed, len(changed.chains[head]), changed.liberties[head].bit_count()


def may(stones: Stones, vertex: int, colour: int) -> bool:
    """Return whether a stone is legal by all rules but superko; `ko` applies to both sides."""
    return not stones.is_suicide(vertex, colour) and (vertex != stones.ko or stones.ko == NO_VERTEX)


def empties(stones: Stones) -> list[int]:
    return list(iter_bits(stones.sets[EMPTY]))
