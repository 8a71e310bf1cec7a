"""The engine's own endgame tables as the root sees them: the exact value of a `chess.Board`."""

import threading

import chess

from agent.chess.ending_tables import (
    BROKEN,
    DRAWN,
    TABLE_PIECES,
    UNKNOWN,
    Tables,
    is_small,
    look_up,
)
from agent.chess.moves import ALL, generate
from agent.chess.position import make
from agent.chess.records import NO_SQUARE, Worker, frame_at, position_at
from agent.chess.rules import KernelBoard
from agent.chess.squares import EVERYWHERE
from agent.compiled.kernel import entry
from agent.compiled.native import U64, int64


@entry(int64(Worker, int64, int64))
def _value(worker: Worker, ply: int, by_moves: int) -> int:
    """Return the table's byte for the position at `ply`, or UNKNOWN.

    An en passant capture is played out, as is every move with `by_moves`.
    """
    position, frame = position_at(worker, ply), frame_at(worker, ply)
    if position.castling or not is_small(position):
        return UNKNOWN
    if not by_moves and position.en_passant == NO_SQUARE:
        return look_up(worker.tables, position)
    won, lost, drawn = BROKEN, DRAWN, False
    n = generate(position, frame, 0, ALL, EVERYWHERE, False)
    for i in range(n):
        make(worker, ply, int64(frame.moves[i]))
        value = _value(worker, ply + 1, 0)
        if value == UNKNOWN:
            return UNKNOWN
        if value == DRAWN:
            drawn = True
        elif value & 1:
            won = min(won, value + 1)
        else:
            lost = max(lost, value + 1)
    if won < BROKEN:
        return won
    if n == 0 and position.checkers:
        return 1
    return DRAWN if drawn else lost


class OwnTables:
    """An oracle; see `agent.chess.oracle`. Several searches may ask it at once."""

    size = TABLE_PIECES

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self._asking = threading.Lock()
        self._game = KernelBoard()
        self._game.worker.tables = U64(tables.address)

    def value(self, board: chess.Board) -> int | None:
        """Return what a position is worth; see `Oracle`."""
        return self._ask(board, by_moves=False)

    def value_by_moves(self, board: chess.Board) -> int | None:
        """Return what a position is worth by the tables' values after each of its moves."""
        return self._ask(board, by_moves=True)

    def _ask(self, board: chess.Board, by_moves: bool) -> int | None:
        if chess.popcount(board.occupied) > self.size:
            return None
        with self._asking:
            self._game.load(board)
            value = int(_value(self._game.worker, 0, by_moves))
        return None if value == UNKNOWN else value
