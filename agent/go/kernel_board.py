"""Python interface to the compiled Go board."""

from functools import cache
from random import Random

import numba
import numpy as np
import numpy.typing as npt

from agent.games import stones as plain
from agent.games.go import Go
from agent.games.go_rules import TAX_RULES
from agent.games.stones import BLACK, BORDER, EMPTY, Stones, iter_bits
from agent.go.board import is_legal, place_stone
from agent.go.board import play as play_move
from agent.go.neighbourhoods import make_neighbourhood_table
from agent.go.network_format import NetworkShape
from agent.go.parts import fits
from agent.go.pattern_weights import shipped_weights
from agent.go.records import BOARD_CELLS, NO_VERTEX, PASS, Worker
from agent.go.settings import SETTINGS
from agent.kernel.bits import U64
from agent.kernel.decorators import entry_point
from agent.kernel.intrinsics import int64
from agent.kernel.record import allocate

_NEIGHBOURHOOD_TABLE = make_neighbourhood_table()
_SEED = 1770
_TURN_KEY = 0x9E3779B97F4A7C15
_EMPTY_KEY = 1  # of the empty board, because 0 marks free entries of the history table


@cache
def _stone_keys() -> npt.NDArray[np.uint64]:
    return np.random.default_rng(_SEED).integers(1, 1 << 64, 2 * BOARD_CELLS, np.uint64)


@entry_point(numba.void(Worker, int64[::1], int64))
def _set_up_stones(worker: Worker, stones: npt.NDArray[np.int64], count: int) -> None:
    """Clear the root board and place `stones`. The vertices of white stones are negative."""
    board, width, height = worker.root, worker.width, worker.height
    step = width + 1
    for vertex in range(BOARD_CELLS):
        board.colours[vertex] = BORDER
        board.chain_heads[vertex] = NO_VERTEX
        worker.first_played_ply[vertex] = 0
    board.empty_count = 0
    for y in range(1, height + 1):
        for x in range(1, width + 1):
            vertex = y * step + x
            board.colours[vertex] = EMPTY
            board.empty_index[vertex] = board.empty_count
            board.empty_vertices[board.empty_count] = vertex
            board.empty_count += 1
    (
        board.neighbour_offsets[0],
        board.neighbour_offsets[1],
        board.neighbour_offsets[2],
        board.neighbour_offsets[3],
    ) = step, 1, -step, -1
    board.neighbour_offsets[4], board.neighbour_offsets[5] = step + 1, 1 - step
    board.neighbour_offsets[6], board.neighbour_offsets[7] = -step - 1, step - 1
    for i in range(board.empty_count):
        vertex = int64(board.empty_vertices[i])
        code = 0
        for side in range(8):
            code |= int64(board.colours[vertex + board.neighbour_offsets[side]]) << 2 * side
        board.neighbour_codes[vertex] = code
    board.captures = 0
    board.key = U64(_EMPTY_KEY)
    for i in range(count):
        place_stone(board, abs(stones[i]), 1 if stones[i] > 0 else 2)


@entry_point(int64(Worker, int64, int64))
def _is_legal_at_root(worker: Worker, vertex: int, colour: int) -> int:
    return int64(worker.root.colours[vertex] == EMPTY and is_legal(worker.root, vertex, colour))


@entry_point(numba.void(Worker, int64))
def _play_at_root(worker: Worker, move: int) -> None:
    play_move(worker.root, move)


class KernelBoard:
    """A worker's memory with a game loaded into it. Compiled functions take its `address`."""

    def __init__(self) -> None:
        self.worker, self.address = allocate(Worker)
        self.worker.root.neighbourhood_table = U64(_NEIGHBOURHOOD_TABLE.ctypes.data)
        self.worker.root.zobrist_keys = U64(_stone_keys().ctypes.data)
        weights, _ = shipped_weights()
        self.worker.feature_weights = U64(0 if weights is None else weights.ctypes.data)
        self.worker.scored_vertices[:] = 1
        for i, setting in enumerate(SETTINGS.values()):
            self.worker.settings[i] = setting.default
        self.seed(_SEED)
        self._keys: dict[tuple[int, int], int] = {}
        self._history = np.zeros(0, np.uint64)
        # Sums of final owners by the first move of the playouts. Column 0 counts the playouts.
        self.owner_sums_by_move = np.zeros((0, BOARD_CELLS), np.int32)
        self.network_buffer = np.zeros(0, np.float32)
        self._buffer_size: tuple[int, int, int] | None = None

    def use_network(
        self, shape: NetworkShape, parameters: npt.NDArray[np.float32] | None, game: Go
    ) -> None:
        """Use a network for positions of the size of `game`, or stop using one if it is None.

        The caller must keep the parameters.
        """
        worker = self.worker
        worker.network = U64(0 if parameters is None else parameters.ctypes.data)
        size = (shape.blocks, game.width, game.height)
        if self._buffer_size != size:
            self.network_buffer = np.zeros(shape.buffer_size(game.width, game.height), np.float32)
            worker.network_buffer = U64(self.network_buffer.ctypes.data)
            worker.network_blocks, self._buffer_size = shape.blocks, size

    def track_owners_by_move(self, wanted: bool) -> None:
        """Enable or disable ownership sums for each first move of the playouts."""
        if not wanted:
            self.worker.owner_sums_by_move = U64(0)
            return
        if len(self.owner_sums_by_move):
            self.owner_sums_by_move[:] = 0
        else:
            self.owner_sums_by_move = np.zeros((BOARD_CELLS, BOARD_CELLS), np.int32)
        self.worker.owner_sums_by_move = U64(self.owner_sums_by_move.ctypes.data)

    def seed(self, seed: int) -> None:
        self.worker.random = U64(Random(seed).getrandbits(63) | 1)

    def load(self, game: Go) -> None:
        """Set the root position and its history. Raise ValueError if the board is too large."""
        if not fits(game):
            raise ValueError(f"board size {game.size} is too large")
        worker = self.worker
        worker.width, worker.height = game.width, game.height
        self._set_stones(game.stones)
        root = worker.root
        root.turn = game.turn + 1
        # If the player that took the ko moves twice in a row, the ko rule does not apply.
        ko = game.stones.ko
        root.ko = NO_VERTEX if game.is_legal(game.turn, ko) else ko
        moves = game.last_moves(2)
        root.last_move, root.previous_move = (to_kernel_move(move) for move in moves)
        root.last_captured = 0
        root.passes = game.passes
        worker.repeatable = int(game.repeatable)
        self._load_rules(game)
        self._load_history(game)

    def _set_stones(self, stones: Stones) -> None:
        black, white = stones.sets[1:]
        vertices = [*iter_bits(black), *(-vertex for vertex in iter_bits(white))]
        _set_up_stones(self.worker, np.array([*vertices, 0], np.int64), len(vertices))

    def _load_rules(self, game: Go) -> None:
        rules, worker, root = game.rules, self.worker, self.worker.root
        # All dead stones must be captured, which costs points under territory scoring.
        by_area = game.capture_dead_stones or not rules.territory
        worker.territory = int(not by_area)
        worker.komi = game.komi if by_area and rules.territory else game.area_komi
        worker.tax = TAX_RULES.index(rules.tax)
        worker.suicide = int(rules.suicide)
        worker.simple_ko = int(rules.ko == "SIMPLE")
        worker.turn_key = U64(0 if rules.ko == "POSITIONAL" else _TURN_KEY)
        # `komi` contains the point for a button that was taken before.
        root.button = int(rules.has_button and game.button_taker is None)
        root.button_owner = 0

    def zobrist_key(self, black: int, white: int, turn: int = 0) -> int:
        """Return the key of a situation, given as bit sets of black and white stones.

        `turn` is 1 if White is to move and the ko rule considers this.
        """
        if turn:
            return self.zobrist_key(black, white) ^ _TURN_KEY
        key = self._keys.get((black, white))
        if key is None:
            keys, key = _stone_keys(), _EMPTY_KEY
            for colour, vertices in ((BLACK, black), (3 - BLACK, white)):
                for vertex in iter_bits(vertices):
                    key ^= int(keys[2 * vertex + colour - 1])
            self._keys[black, white] = key
        return key

    def _load_history(self, game: Go) -> None:
        situations = game.situations
        capacity = 1 << (2 * len(situations)).bit_length()
        if len(self._history) < capacity:
            self._history = np.zeros(capacity, np.uint64)
            self.worker.history_table = U64(self._history.ctypes.data)
            self.worker.history_capacity = capacity
        capacity = len(self._history)
        self._history[:] = 0
        # Keep the keys of this game only.
        self._keys = {
            (black, white): self.zobrist_key(black, white) for black, white, _ in situations
        }
        for situation in situations:
            key = self.zobrist_key(*situation)
            index = key % capacity
            while self._history[index]:
                index = (index + 1) % capacity
            self._history[index] = key

    def is_legal(self, move: int, colour: int) -> bool:
        """Return whether a move at the root is legal for `colour`, ignoring superko."""
        return move == plain.PASS or bool(_is_legal_at_root(self.worker, move, colour))

    def play(self, move: int) -> None:
        _play_at_root(self.worker, to_kernel_move(move))


def to_kernel_move(move: int | None) -> int:
    """Convert a move of `agent.games.go` to a kernel move. None becomes PASS."""
    return PASS if move is None or move == plain.PASS else move


def from_kernel_move(move: int) -> int:
    """Convert a kernel move to a move of `agent.games.go`."""
    return plain.PASS if move == PASS else move
