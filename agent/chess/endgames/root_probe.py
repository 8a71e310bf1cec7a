"""Tablebase probing at the root of the search, which respects the fifty-move rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import chess

from agent.chess.endgames.dtm_tablebase import DRAWN, FIFTY_MOVES, DtmTablebase, makes_threefold
from agent.limits import Cp, Mate, Score

if TYPE_CHECKING:
    from agent.chess.endgames.builtin_tablebase import BuiltinTablebase
    from agent.chess.endgames.external_tablebases import SyzygyTablebase

_MAX_PV_PLIES = 10
_MAX_CHECKED_WINS = 3  # number of winning moves that are checked against the fifty-move rule


@dataclass(frozen=True, slots=True)
class RootProbeResult:
    """The result of probing the tablebases for a root position.

    `moves` are the moves to consider, best first. If `score` is None, a search must choose one of
    them. `line` is a line of best play, and `hits` is the number of positions found in the
    tablebases.
    """

    moves: tuple[chess.Move, ...]
    score: Score | None = None
    line: tuple[chess.Move, ...] = ()
    hits: int = 0


class Tablebases:
    """The endgame tablebases of a search. The kernel also probes `own`, the built-in tablebase."""

    def __init__(
        self,
        own: BuiltinTablebase | None = None,
        gaviota: DtmTablebase | None = None,
        syzygy: SyzygyTablebase | None = None,
    ) -> None:
        self.own = own
        self._dtm_tablebases: list[DtmTablebase] = [
            tablebase for tablebase in (own, gaviota) if tablebase is not None
        ]
        self._syzygy = syzygy
        sizes = [tablebase.max_pieces for tablebase in self._dtm_tablebases]
        if syzygy:
            sizes.append(syzygy.max_pieces)
        self._max_pieces = max(sizes, default=0)

    def probe_root(
        self,
        board: chess.Board,
        moves: Sequence[chess.Move],
        stopped: Callable[[], bool] = lambda: False,
    ) -> RootProbeResult | None:
        """Return the best of `moves`, or None if unknown. DTM probes end when `stopped` is True."""
        if chess.popcount(board.occupied) > self._max_pieces or board.castling_rights:
            return None
        for tablebase in self._dtm_tablebases:
            probe_result = _probe_root(_InterruptibleTablebase(tablebase, stopped), board, moves)
            if probe_result is not None:
                return probe_result
        if self._syzygy is not None:
            best = self._syzygy.best_moves(board, moves)
            if best:
                return RootProbeResult(tuple(best), hits=len(moves))
        return None


class _InterruptibleTablebase:
    """A DTM tablebase whose probes return None when `stopped` returns True."""

    def __init__(self, tablebase: DtmTablebase, stopped: Callable[[], bool]) -> None:
        self.max_pieces = tablebase.max_pieces
        self._tablebase = tablebase
        self._stopped = stopped

    def probe(self, board: chess.Board) -> int | None:
        return None if self._stopped() else self._tablebase.probe(board)


@dataclass(frozen=True, slots=True)
class _RatedMove:
    """A move with the DTM value and the halfmove clock of the resulting position."""

    move: chess.Move
    value: int
    clock: int

    @property
    def is_certain(self) -> bool:
        """Whether the mate comes before the fifty-move rule applies."""
        return self.clock + self.value - 1 <= FIFTY_MOVES


def _rate_moves(
    tablebase: DtmTablebase, board: chess.Board, moves: Iterable[chess.Move]
) -> list[_RatedMove] | None:
    rated = []
    for move in moves:
        board.push(move)
        value = tablebase.probe(board)
        clock = board.halfmove_clock
        board.pop()
        if value is None:
            return None
        rated.append(_RatedMove(move, value, clock))
    return rated


def _dtm_preference(rated: _RatedMove) -> int:
    """Return a sort key that is highest for fast wins and lowest for fast losses."""
    if rated.value == DRAWN:
        return 0
    return 1000 - rated.value if rated.value & 1 else rated.value - 1000


def _probe_root(
    tablebase: DtmTablebase, board: chess.Board, moves: Sequence[chess.Move]
) -> RootProbeResult | None:
    root = board.copy(stack=False)
    rated = _rate_moves(tablebase, root, moves)
    if not rated:
        return None
    hits = len(rated)
    wins = [r for r in rated if r.value & 1]
    if wins:
        wins = [r for r in wins if not makes_threefold(board, r.move)] or wins
        return _choose_win(tablebase, root, wins, hits)
    draws = [r for r in rated if r.value == DRAWN]
    if draws:
        best = max(draws, key=lambda r: _losing_reply_share(tablebase, root, r.move))
        return RootProbeResult((best.move,), Cp(0), (best.move,), hits)
    drawable = [r for r in rated if not r.is_certain]
    if drawable:
        return RootProbeResult(tuple(r.move for r in drawable), hits=hits)
    best = max(rated, key=_dtm_preference)
    return RootProbeResult(
        (best.move,), Mate(-(best.value // 2)), _best_line(tablebase, root, best.move), hits
    )


def _choose_win(
    tablebase: DtmTablebase, root: chess.Board, wins: Iterable[_RatedMove], hits: int
) -> RootProbeResult:
    """Return the fastest mate that comes before the fifty-move rule applies.

    Otherwise, prefer a move after which a capture or pawn move resets the halfmove clock in time.
    """
    ordered = sorted(wins, key=_dtm_preference, reverse=True)
    for fastest in ordered:
        if fastest.is_certain:
            line = _best_line(tablebase, root, fastest.move)
            return RootProbeResult((fastest.move,), Mate((fastest.value + 1) // 2), line, hits)
    for candidate in ordered[:_MAX_CHECKED_WINS]:
        if _converts_in_time(tablebase, root, candidate.move):
            return RootProbeResult((candidate.move,), hits=hits)
    return RootProbeResult(tuple(r.move for r in ordered), hits=hits)


def _best_move(tablebase: DtmTablebase, board: chess.Board) -> chess.Move | None:
    rated = _rate_moves(tablebase, board, board.legal_moves)
    return max(rated, key=_dtm_preference).move if rated else None


def _best_line(
    tablebase: DtmTablebase, board: chess.Board, move: chess.Move
) -> tuple[chess.Move, ...]:
    board = board.copy(stack=False)
    line: list[chess.Move] = []
    best: chess.Move | None = move
    while best is not None and len(line) < _MAX_PV_PLIES:
        line.append(best)
        board.push(best)
        best = _best_move(tablebase, board)
    return tuple(line)


def _converts_in_time(tablebase: DtmTablebase, board: chess.Board, move: chess.Move) -> bool:
    """Return whether best play after `move` captures, moves a pawn or mates within 50 moves."""
    board = board.copy(stack=False)
    best: chess.Move | None = move
    while best is not None:
        board.push(best)
        if board.halfmove_clock == 0:
            return True
        if board.halfmove_clock >= FIFTY_MOVES:
            return board.is_checkmate()
        best = _best_move(tablebase, board)
    return board.is_checkmate()


def _losing_reply_share(tablebase: DtmTablebase, board: chess.Board, move: chess.Move) -> float:
    board.push(move)
    replies = _rate_moves(tablebase, board, board.legal_moves) or []
    board.pop()
    return sum(reply.value != DRAWN and not reply.value & 1 for reply in replies) / max(
        len(replies), 1
    )
