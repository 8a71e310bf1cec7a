"""Probing of the built-in endgame tablebase for a `chess.Board`."""

import threading

import chess

from agent.chess.board.bitboards import ALL_SQUARES
from agent.chess.board.kernel_board import KernelBoard
from agent.chess.board.movegen import ALL, generate
from agent.chess.board.position import make_move
from agent.chess.board.records import NO_SQUARE, Worker, frame_at, position_at
from agent.chess.endgames.dtm_tables import (
    DRAWN,
    INVALID,
    TABLE_PIECES,
    UNKNOWN,
    DtmTables,
    may_have_table,
    probe_position,
)
from agent.kernel.decorators import entry_point
from agent.kernel.intrinsics import U64, int64


@entry_point(int64(Worker, int64, int64))
def _probe_worker(worker: Worker, ply: int, by_moves: int) -> int:
    """Return the tablebase value of the position at `ply`, or UNKNOWN."""
    position, frame = position_at(worker, ply), frame_at(worker, ply)
    if position.castling or not may_have_table(position):
        return UNKNOWN
    if not by_moves and position.en_passant == NO_SQUARE:
        return probe_position(worker.tablebase, position)
    best_win, longest_loss, has_draw = INVALID, DRAWN, False
    n = generate(position, frame, 0, ALL, ALL_SQUARES, False)
    for i in range(n):
        make_move(worker, ply, int64(frame.moves[i]))
        value = _probe_worker(worker, ply + 1, 0)
        if value == UNKNOWN:
            return UNKNOWN
        if value == DRAWN:
            has_draw = True
        elif value & 1:
            best_win = min(best_win, value + 1)
        else:
            longest_loss = max(longest_loss, value + 1)
    if best_win < INVALID:
        return best_win
    if n == 0 and position.checkers:
        return 1
    return DRAWN if has_draw else longest_loss


class BuiltinTablebase:
    """A thread-safe `DtmTablebase` that uses the built-in tables."""

    max_pieces = TABLE_PIECES

    def __init__(self, tables: DtmTables) -> None:
        self.tables = tables
        self._lock = threading.Lock()
        self._game = KernelBoard()
        self._game.worker.tablebase = U64(tables.address)

    def probe(self, board: chess.Board) -> int | None:
        return self._probe(board, by_moves=False)

    def probe_by_moves(self, board: chess.Board) -> int | None:
        """Return the DTM value, derived by probing the position after each legal move, or None."""
        return self._probe(board, by_moves=True)

    def _probe(self, board: chess.Board, by_moves: bool) -> int | None:
        if chess.popcount(board.occupied) > self.max_pieces:
            return None
        with self._lock:
            self._game.load(board)
            value = int(_probe_worker(self._game.worker, 0, by_moves))
        return None if value == UNKNOWN else value
