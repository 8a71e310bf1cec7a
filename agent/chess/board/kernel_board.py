"""Conversion between `chess.Board` and the positions of the compiled engine."""

from collections.abc import Callable
from typing import Any, Protocol

import chess
import numba
import numpy as np
import numpy.typing as npt

from agent.chess.board.bitboards import ALL_SQUARES
from agent.chess.board.endings import LOST, NOT_OVER, WON, variant_result
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
    DROP,
    FIFTY_MOVES,
    FLAG_MASK,
    KIND_MASK,
    KING_PROMOTION,
    MAX_GAME_KEYS,
    NO_SQUARE,
    POCKET_KINDS,
    PROMOTION,
    Worker,
    frame_at,
    position_at,
)
from agent.chess.board.rules import COUNTS_CHECKS, ENDS_EARLY, FORCED_CAPTURES, POCKETS
from agent.kernel.decorators import entry_point
from agent.kernel.intrinsics import U64, int64
from agent.kernel.record import allocate

_DROP = 8

_TERMINATIONS = (
    None,
    chess.Termination.CHECKMATE,
    chess.Termination.STALEMATE,
    chess.Termination.INSUFFICIENT_MATERIAL,
    chess.Termination.FIFTY_MOVES,
    chess.Termination.THREEFOLD_REPETITION,
    chess.Termination.VARIANT_LOSS,
    chess.Termination.VARIANT_WIN,
    chess.Termination.VARIANT_DRAW,
)


@entry_point(numba.void(Worker, numba.types.Array(numba.int32, 1, "C", readonly=True)))
def _load_game(worker: Worker, moves: npt.NDArray[np.int32]) -> None:
    """Compute the root's derived fields and play `moves` (`from | to << 6 | promotion << 12`).

    The promotion is 8 for a drop, whose piece type is in place of the source square.
    """
    root = position_at(worker, 0)
    refresh(root)
    worker.game_key_count = 0
    for i in range(len(moves)):
        move = int64(moves[i])
        if POCKETS and move >> 12 == _DROP:
            move = (move & 4095) | DROP
        else:
            move = encode_move(root, move & 63, move >> 6 & 63, move >> 12)
        advance_root(worker, move)


@entry_point(int64(Worker))
def _generate_legal_moves(worker: Worker) -> int:
    return generate(position_at(worker, 0), frame_at(worker, 0), 0, ALL, ALL_SQUARES, False)


@entry_point(int64(Worker))
def _termination_index(worker: Worker) -> int:
    position, frame = position_at(worker, 0), frame_at(worker, 0)
    if ENDS_EARLY:
        result = variant_result(position)
        if result != NOT_OVER:
            return 6 if result == LOST else 7 if result == WON else 8
    if generate(position, frame, 0, ALL, ALL_SQUARES, True) == 0:
        if FORCED_CAPTURES:
            return 7
        return 1 if position.checkers else 2
    if is_insufficient_material(position):
        return 3
    if not POCKETS and position.halfmoves >= FIFTY_MOVES:
        return 4
    return 5 if is_repetition(worker, 0) else 0


@entry_point(int64(Worker, int64, int64))
def _perft(worker: Worker, ply: int, depth: int) -> int:
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
    @property
    def address(self) -> int:
        """Address of the weights in memory."""

    @property
    def buckets(self) -> int:
        """Number of output buckets."""


class KernelBoard:
    """The state of one search thread, whose root position is loaded from a `chess.Board`."""

    def __init__(self) -> None:
        self.worker, self.address = allocate(Worker)
        self.chess960 = False
        self._network: Network | None = None
        self._accumulators: npt.NDArray[np.uint8] | None = None

    def clear_histories(self) -> None:
        worker = self.worker
        worker.quiet_history[:] = worker.capture_history[:] = worker.continuation_history[:] = 0
        worker.pawn_corrections[:] = worker.piece_corrections[:] = worker.line_corrections[:] = 0
        worker.evaluation_cache[:] = 0

    def set_network(
        self, network: Network | None, allocate: Callable[[Any], npt.NDArray[np.uint8]]
    ) -> None:
        """Attach `network` with new NNUE accumulators, or detach the old one if it is None."""
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
        """Load `board` as the root position, with its history since the last irreversible move.

        Each side must have exactly one king, unless the variant has other rules. The side that is
        not to move must not be in check.
        """
        moves = board.move_stack
        first = len(moves)
        # No position before the last capture, pawn move or null move can be repeated.
        reversible = MAX_GAME_KEYS if POCKETS else board.halfmove_clock
        while first > max(len(moves) - reversible, 0) and moves[first - 1]:
            first -= 1
        start_board: Any = board
        if first < len(moves):
            start_board = board.copy()
            for _ in range(len(moves) - first):
                start_board.pop()
        self.chess960 = board.chess960
        root = self.worker.positions[0]
        root.kinds[:] = (
            start_board.pawns,
            start_board.knights,
            start_board.bishops,
            start_board.rooks,
            start_board.queens,
            start_board.kings,
        )
        root.sides[:] = start_board.occupied_co[chess.WHITE], start_board.occupied_co[chess.BLACK]
        root.castling = U64(0 if FORCED_CAPTURES else start_board.clean_castling_rights())
        if COUNTS_CHECKS:
            root.remaining_checks[:] = start_board.remaining_checks[::-1]
        if POCKETS:
            root.promoted = start_board.promoted
            for side, pocket in enumerate(reversed(start_board.pockets)):
                for kind in range(5):
                    root.pockets[POCKET_KINDS * side + kind] = pocket.count(kind + 1)
        root.turn = 0 if start_board.turn else 1
        root.en_passant = NO_SQUARE if start_board.ep_square is None else start_board.ep_square
        root.halfmoves = root.reversible_plies = start_board.halfmove_clock
        root.fullmoves = start_board.fullmove_number
        played = [
            m.drop - 1 | m.to_square << 6 | _DROP << 12
            if m.drop
            else m.from_square | m.to_square << 6 | (m.promotion or 1) - 1 << 12
            for m in moves[first:]
        ]
        _load_game(self.worker, np.array(played, dtype=np.int32))

    def legal_moves(self) -> list[int]:
        """Return the legal moves of the root position as 16-bit numbers (see `records`)."""
        n = _generate_legal_moves(self.worker)
        return self.worker.frames[0].moves[:n].tolist()

    def decode_move(self, move: int) -> chess.Move:
        """Convert a 16-bit move to a `chess.Move`, in Chess960 notation if the board uses it."""
        start, target = move & 63, move >> 6 & 63
        flag = move & FLAG_MASK
        if POCKETS and move & KIND_MASK == DROP:
            return chess.Move(target, target, drop=start + 1)
        if FORCED_CAPTURES and move & KIND_MASK == KING_PROMOTION:
            return chess.Move(start, target, chess.KING)
        if flag == PROMOTION:
            return chess.Move(start, target, (move >> 12 & 3) + chess.KNIGHT)
        if flag == CASTLING and not self.chess960:
            target = (start & 56) + (6 if target > start else 2)
        return chess.Move(start, target)

    def key(self) -> int:
        """Return the Polyglot hash key of the root position."""
        return int(self.worker.positions[0].key)

    def outcome(self) -> chess.Termination | None:
        """Return how the game has ended in the root position, or None if it continues.

        Threefold repetition and the fifty-move rule end the game without a claim.
        """
        return _TERMINATIONS[_termination_index(self.worker)]

    def perft(self, depth: int) -> int:
        return int(_perft(self.worker, 0, depth))


def perft(board: chess.Board, depth: int) -> int:
    game = KernelBoard()
    game.load(board)
    return game.perft(depth)
