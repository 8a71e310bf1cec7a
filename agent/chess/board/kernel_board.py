"""The kernel's rules for Python callers: a game loaded into a worker, legal moves, perft."""

from collections.abc import Callable
from typing import Any, Protocol

import chess
import numba
import numpy as np
import numpy.typing as npt

from agent.chess.board.bitboards import ALL_SQUARES
from agent.chess.board.movegen import ALL, generate
from agent.chess.board.position import (
    advance_root,
    encode_move,
    is_insufficient_material,
    is_repetition,
    make_move,
    refresh,
)
from agent.chess.board.records import (
    CASTLING,
    FIFTY_MOVES,
    FLAG_MASK,
    NO_SQUARE,
    PROMOTION,
    Worker,
    frame_at,
    position_at,
)
from agent.kernel.decorators import entry_point
from agent.kernel.intrinsics import U64, int64
from agent.kernel.record import allocate

_TERMINATIONS = (
    None,
    chess.Termination.CHECKMATE,
    chess.Termination.STALEMATE,
    chess.Termination.INSUFFICIENT_MATERIAL,
    chess.Termination.FIFTY_MOVES,
    chess.Termination.THREEFOLD_REPETITION,
)


@entry_point(numba.void(Worker, numba.types.Array(numba.int32, 1, "C", readonly=True)))
def _load_game(worker: Worker, moves: npt.NDArray[np.int32]) -> None:
    """Compute the base position at ply 0, then play `moves` (from, to, promotion kind) on it."""
    root = position_at(worker, 0)
    refresh(root)
    worker.game_key_count = 0
    for i in range(len(moves)):
        move = encode_move(root, moves[i] & 63, moves[i] >> 6 & 63, moves[i] >> 12)
        advance_root(worker, move)


@entry_point(int64(Worker))
def _generate_legal_moves(worker: Worker) -> int:
    """Write the legal moves of the root position to frame 0 and return their number."""
    return generate(position_at(worker, 0), frame_at(worker, 0), 0, ALL, ALL_SQUARES, False)


@entry_point(int64(Worker))
def _termination_index(worker: Worker) -> int:
    """Return the place in `_TERMINATIONS` of what ended the game at the root."""
    position, frame = position_at(worker, 0), frame_at(worker, 0)
    if generate(position, frame, 0, ALL, ALL_SQUARES, True) == 0:
        return 1 if position.checkers else 2
    if is_insufficient_material(position):
        return 3
    if position.halfmoves >= FIFTY_MOVES:
        return 4
    return 5 if is_repetition(worker, 0) else 0


@entry_point(int64(Worker, int64, int64))
def _perft(worker: Worker, ply: int, depth: int) -> int:
    """Count the leaves `depth` plies below `ply`; the last ply is counted, not played."""
    position, frame = position_at(worker, ply), frame_at(worker, ply)
    if depth <= 1:
        return generate(position, frame, 0, ALL, ALL_SQUARES, True) if depth == 1 else 1
    n = generate(position, frame, 0, ALL, ALL_SQUARES, False)
    leaves = 0
    for i in range(n):
        if worker.stop:
            return 0
        make_move(worker, ply, int64(frame.moves[i]))
        leaves += _perft(worker, ply + 1, depth - 1)
        worker.nodes += 1
    return leaves


class Network(Protocol):
    """A network as the kernel reads it."""

    @property
    def address(self) -> int:
        """Address of the weights in memory."""

    @property
    def buckets(self) -> int:
        """Number of input buckets."""


class KernelBoard:
    """A worker, with a game loaded into it from a `chess.Board`. address: its own, in memory."""

    def __init__(self) -> None:
        self.worker, self.address = allocate(Worker)
        self.chess960 = False
        self._network: Network | None = None
        self._accumulators: npt.NDArray[np.uint8] | None = None

    def clear_histories(self) -> None:
        """Forget what searches have learned."""
        worker = self.worker
        worker.quiet_history[:] = worker.capture_history[:] = worker.continuation_history[:] = 0
        worker.pawn_corrections[:] = worker.piece_corrections[:] = worker.line_corrections[:] = 0
        worker.evaluation_cache[:] = 0

    def set_network(
        self, network: Network | None, allocate: Callable[[Any], npt.NDArray[np.uint8]]
    ) -> None:
        """Attach a network's weights and its accumulators to the worker; None detaches them."""
        if network is self._network:
            return
        self._network = network
        worker = self.worker
        if network is None:
            self._accumulators = None
            worker.network = worker.accumulators = U64(0)
            return
        self._accumulators = allocate(network)
        worker.network = U64(network.address)
        worker.network_buckets = network.buckets
        worker.accumulators = U64(self._accumulators.ctypes.data)

    def load(self, board: chess.Board) -> None:
        """Set the root position, and the game before it as far as repetition needs it.

        The board must have one king a side and the side not to move must not be in check.
        """
        moves = board.move_stack
        first = len(moves)
        # Nothing before the last capture, pawn move or null move can be repeated.
        while first > max(len(moves) - board.halfmove_clock, 0) and moves[first - 1]:
            first -= 1
        base = board
        if first < len(moves):
            base = board.copy()
            for _ in range(len(moves) - first):
                base.pop()
        self.chess960 = board.chess960
        root = self.worker.positions[0]
        root.kinds[:] = (
            base.pawns,
            base.knights,
            base.bishops,
            base.rooks,
            base.queens,
            base.kings,
        )
        root.sides[:] = base.occupied_co[chess.WHITE], base.occupied_co[chess.BLACK]
        root.castling = U64(base.clean_castling_rights())
        root.turn = 0 if base.turn else 1
        root.en_passant = NO_SQUARE if base.ep_square is None else base.ep_square
        root.halfmoves = root.reversible_plies = base.halfmove_clock
        root.fullmoves = base.fullmove_number
        played = [
            m.from_square | m.to_square << 6 | (m.promotion or 1) - 1 << 12 for m in moves[first:]
        ]
        _load_game(self.worker, np.array(played, dtype=np.int32))

    def legal_moves(self) -> list[int]:
        """Return the kernel's numbers of the root's legal moves."""
        n = _generate_legal_moves(self.worker)
        return self.worker.frames[0].moves[:n].tolist()

    def decode_move(self, number: int) -> chess.Move:
        """Turn a kernel move into the notation of the loaded board."""
        start, target = number & 63, number >> 6 & 63
        flag = number & FLAG_MASK
        if flag == PROMOTION:
            return chess.Move(start, target, (number >> 12 & 3) + chess.KNIGHT)
        if flag == CASTLING and not self.chess960:
            target = (start & 56) + (6 if target > start else 2)
        return chess.Move(start, target)

    def key(self) -> int:
        """Return the Polyglot key of the root position."""
        return int(self.worker.positions[0].key)

    def outcome(self) -> chess.Termination | None:
        """Tell what ended the game at the root, claims of a draw included; None if it goes on."""
        return _TERMINATIONS[_termination_index(self.worker)]

    def perft(self, depth: int) -> int:
        """Count the leaves of the tree of legal moves, `depth` plies deep."""
        return int(_perft(self.worker, 0, depth))


def perft(board: chess.Board, depth: int) -> int:
    """Count the positions reached by `depth` legal moves."""
    game = KernelBoard()
    game.load(board)
    return game.perft(depth)
