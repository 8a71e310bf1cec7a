"""The kernel's board from Python: a game loaded into a worker's memory."""

from functools import cache
from random import Random

import numba
import numpy as np
import numpy.typing as npt

from agent.compiled.bits import U64
from agent.compiled.kernel import entry
from agent.compiled.native import int64
from agent.compiled.record import allocate
from agent.games import stones as plain
from agent.games.go import Go
from agent.games.stones import BLACK, BORDER, EMPTY, Stones, members
from agent.go.board import is_legal, put
from agent.go.board import play as play_move
from agent.go.parts import fits
from agent.go.pattern_weights import shipped
from agent.go.records import CELLS, NOWHERE, PASS, Worker
from agent.go.settings import SETTINGS
from agent.go.shapes import make_table

_SHAPES = make_table()
_SEED = 1770


@cache
def _stone_keys() -> npt.NDArray[np.uint64]:
    """Return the keys of stones, as Zobrist proposed: by vertex, of Black and of White."""
    return np.random.default_rng(_SEED).integers(1, 1 << 64, 2 * CELLS, np.uint64)


@entry(numba.void(Worker, int64[::1], int64))
def _set_up(worker: Worker, stones: npt.NDArray[np.int64], number: int) -> None:
    """Make the root an empty board, and put stones on it: vertices, negative of White."""
    board, width, height = worker.root, worker.width, worker.height
    step = width + 1
    for vertex in range(CELLS):
        board.colours[vertex] = BORDER
        board.heads[vertex] = NOWHERE
        worker.first[vertex] = 0
    board.empty = 0
    for y in range(1, height + 1):
        for x in range(1, width + 1):
            vertex = y * step + x
            board.colours[vertex] = EMPTY
            board.places[vertex] = board.empty
            board.empties[board.empty] = vertex
            board.empty += 1
    board.steps[0], board.steps[1], board.steps[2], board.steps[3] = step, 1, -step, -1
    board.steps[4], board.steps[5] = step + 1, 1 - step
    board.steps[6], board.steps[7] = -step - 1, step - 1
    for i in range(board.empty):
        vertex = int64(board.empties[i])
        code = 0
        for side in range(8):
            code |= int64(board.colours[vertex + board.steps[side]]) << 2 * side
        board.codes[vertex] = code
    board.captures = 0
    board.key = U64(0)
    for i in range(number):
        put(board, abs(stones[i]), 1 if stones[i] > 0 else 2)


@entry(int64(Worker, int64, int64))
def _may(worker: Worker, vertex: int, colour: int) -> int:
    return int64(worker.root.colours[vertex] == EMPTY and is_legal(worker.root, vertex, colour))


@entry(numba.void(Worker, int64))
def _advance(worker: Worker, move: int) -> None:
    play_move(worker.root, move)


class StoneBoard:
    """A worker's memory, at an address for C functions, with a game loaded into it."""

    def __init__(self) -> None:
        self.worker, self.address = allocate(Worker)
        self.worker.root.shapes = U64(_SHAPES.ctypes.data)
        self.worker.root.keys = U64(_stone_keys().ctypes.data)
        weights, _ = shipped()
        self.worker.learned = U64(0 if weights is None else weights.ctypes.data)
        self.worker.counted[:] = 1
        for number, setting in enumerate(SETTINGS.values()):
            self.worker.settings[number] = setting.default
        self.seed(_SEED)
        self._keys: dict[tuple[int, int], int] = {}
        self._history = np.zeros(0, np.uint64)
        # By the first move of playouts, as a worker has `owned`; how many there were stands first.
        self.owned_after = np.zeros((0, CELLS), np.int32)

    def note_owners(self, wanted: bool) -> None:
        """Keep whose each vertex was apart by the first move from here on, or do not."""
        if not wanted:
            self.worker.owned_after = U64(0)
            return
        if len(self.owned_after):
            self.owned_after[:] = 0
        else:
            self.owned_after = np.zeros((CELLS, CELLS), np.int32)
        self.worker.owned_after = U64(self.owned_after.ctypes.data)

    def seed(self, seed: int) -> None:
        """Begin the random numbers of playouts again."""
        self.worker.random = U64(Random(seed).getrandbits(63) | 1)

    def load(self, game: Go) -> None:
        """Set the root position, and what it must not repeat; ValueError if it is too large."""
        if not fits(game):
            raise ValueError(f"a board of size {game.size} is too large")
        worker = self.worker
        worker.width, worker.height = game.width, game.height
        worker.komi = game.komi
        self._set_stones(game.stones)
        root = worker.root
        root.turn = game.turn + 1
        # Whoever took a ko and moves again may connect it.
        ko = game.stones.ko
        root.ko = NOWHERE if game.allows(game.turn, ko) else ko
        moves = game.last_moves(2)
        root.last, root.earlier = (to_move(move) for move in moves)
        root.taken = 0
        root.passes = game.passes
        worker.repeatable = int(game.repeatable)
        self._remember(game)

    def _set_stones(self, stones: Stones) -> None:
        black, white = stones.sets[1:]
        given = [*members(black), *(-vertex for vertex in members(white))]
        _set_up(self.worker, np.array([*given, 0], np.int64), len(given))

    def key(self, black: int, white: int) -> int:
        """Return the key of a position, given as the sets of the stones of both colours."""
        key = self._keys.get((black, white))
        if key is None:
            keys, key = _stone_keys(), 0
            for colour, vertices in ((BLACK, black), (3 - BLACK, white)):
                for vertex in members(vertices):
                    key ^= int(keys[2 * vertex + colour - 1])
            self._keys[black, white] = key
        return key

    def _remember(self, game: Go) -> None:
        """Note the positions of the game: captures in the search alone may bring them again."""
        positions = game.positions
        places = 1 << (2 * len(positions)).bit_length()
        if len(self._history) < places:
            self._history = np.zeros(places, np.uint64)
            self.worker.history = U64(self._history.ctypes.data)
            self.worker.history_places = places
        places = len(self._history)
        self._history[:] = 0
        # Of other games nothing is kept.
        self._keys = {position: self.key(*position) for position in positions}
        for key in self._keys.values():
            place = key % places
            while self._history[place]:
                place = (place + 1) % places
            self._history[place] = key

    def may(self, move: int, colour: int) -> bool:
        """Tell whether the rules allow a move at the root, superko aside."""
        return move == plain.PASS or bool(_may(self.worker, move, colour))

    def play(self, move: int) -> None:
        """Make a legal move at the root."""
        _advance(self.worker, to_move(move))


def to_move(move: int | None) -> int:
    """Return the kernel's number of a move of the plain game; PASS for none."""
    return PASS if move is None or move == plain.PASS else move


def from_move(move: int) -> int:
    """Return the plain game's number of a move of the kernel's."""
    return plain.PASS if move == PASS else move
