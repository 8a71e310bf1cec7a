"""What endgame tables say of the moves at the root.

An oracle knows the distance to mate of positions: the engine's own tables, or Gaviota's. Syzygy
tables know the distance to the next capture or pawn move instead. Both are asked about every root
move; wins are kept under the fifty-move rule. All boards are those of the `chess` package, and
nothing here needs the compiled kernel.
"""

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

_MAX_PV_PLIES = 10  # plies of the line of play that is reported
_MAX_CHECKED_WINS = (
    3  # winning moves that are played out to see whether they beat the fifty-move rule
)


@dataclass(frozen=True, slots=True)
class RootProbeResult:
    """What tables say of a root position.

    moves: the only ones worth playing, best first. score, line: the value of the position and a
    line of best play, if it is certain; else a search decides between the moves. hits: positions
    looked up.
    """

    moves: tuple[chess.Move, ...]
    score: Score | None = None
    line: tuple[chess.Move, ...] = ()
    hits: int = 0


class Tablebases:
    """All endgame tables that a search has. own: those the kernel uses inside the search."""

    def __init__(
        self,
        own: BuiltinTablebase | None = None,
        gaviota: DtmTablebase | None = None,
        syzygy: SyzygyTablebase | None = None,
    ) -> None:
        self.own = own
        self._oracles: list[DtmTablebase] = [
            oracle for oracle in (own, gaviota) if oracle is not None
        ]
        self._syzygy = syzygy
        sizes = [oracle.max_pieces for oracle in self._oracles] + (
            [syzygy.max_pieces] if syzygy else []
        )
        self._size = max(sizes, default=0)

    def probe_root(
        self,
        board: chess.Board,
        moves: Sequence[chess.Move],
        stopped: Callable[[], bool] = lambda: False,
    ) -> RootProbeResult | None:
        """Say which of the legal moves to play; None if the tables do not know.

        stopped: asked again and again; once it is true, what is not known yet stays unknown.
        """
        if chess.popcount(board.occupied) > self._size or board.castling_rights:
            return None
        for oracle in self._oracles:
            probe_result = _probe_root(_InterruptibleTablebase(oracle, stopped), board, moves)
            if probe_result is not None:
                return probe_result
        if self._syzygy is not None:
            best = self._syzygy.best_moves(board, moves)
            if best:
                return RootProbeResult(tuple(best), hits=len(moves))
        return None


class _InterruptibleTablebase:
    """An oracle that knows nothing any more once the search has been stopped."""

    def __init__(self, oracle: DtmTablebase, stopped: Callable[[], bool]) -> None:
        self.max_pieces = oracle.max_pieces
        self._oracle = oracle
        self._stopped = stopped

    def probe(self, board: chess.Board) -> int | None:
        """Return what a position is worth; see Oracle."""
        return None if self._stopped() else self._oracle.probe(board)


@dataclass(frozen=True, slots=True)
class _RatedMove:
    """A root move. value: the oracle's, of the position after it; clock: of the fifty moves."""

    move: chess.Move
    value: int
    clock: int

    @property
    def is_certain(self) -> bool:
        """Whether the mate comes before the fifty-move rule, whatever is played."""
        return self.clock + self.value - 1 <= FIFTY_MOVES


def _rate_moves(
    oracle: DtmTablebase, board: chess.Board, moves: Iterable[chess.Move]
) -> list[_RatedMove] | None:
    rated = []
    for move in moves:
        board.push(move)
        value = oracle.probe(board)
        clock = board.halfmove_clock
        board.pop()
        if value is None:
            return None
        rated.append(_RatedMove(move, value, clock))
    return rated


def _dtm_preference(rated: _RatedMove) -> int:
    """Rate a move by distance alone: a fast win before a slow one, a draw, then a slow loss."""
    if rated.value == DRAWN:
        return 0
    return 1000 - rated.value if rated.value & 1 else rated.value - 1000


def _probe_root(
    oracle: DtmTablebase, board: chess.Board, moves: Sequence[chess.Move]
) -> RootProbeResult | None:
    root = board.copy(stack=False)
    rated = _rate_moves(oracle, root, moves)
    if not rated:
        return None
    hits = len(rated)
    wins = [r for r in rated if r.value & 1]
    if wins:
        wins = [r for r in wins if not makes_threefold(board, r.move)] or wins
        return _choose_win(oracle, root, wins, hits)
    draws = [r for r in rated if r.value == DRAWN]
    if draws:
        best = max(draws, key=lambda r: _losing_reply_share(oracle, root, r.move))
        return RootProbeResult((best.move,), Cp(0), (best.move,), hits)
    saved = [r for r in rated if not r.is_certain]
    if saved:
        return RootProbeResult(tuple(r.move for r in saved), hits=hits)
    best = max(rated, key=_dtm_preference)
    return RootProbeResult(
        (best.move,), Mate(-(best.value // 2)), _best_line(oracle, root, best.move), hits
    )


def _choose_win(
    oracle: DtmTablebase, root: chess.Board, wins: Iterable[_RatedMove], hits: int
) -> RootProbeResult:
    """Choose between winning moves: the fastest mate that comes before the fifty-move rule.

    If none does for certain, a capture or pawn move on the way may start the count anew.
    """
    ordered = sorted(wins, key=_dtm_preference, reverse=True)
    for fastest in ordered:
        if fastest.is_certain:
            line = _best_line(oracle, root, fastest.move)
            return RootProbeResult((fastest.move,), Mate((fastest.value + 1) // 2), line, hits)
    for timely in ordered[:_MAX_CHECKED_WINS]:
        if _converts_in_time(oracle, root, timely.move):
            return RootProbeResult((timely.move,), hits=hits)
    return RootProbeResult(tuple(r.move for r in ordered), hits=hits)


def _best_move(oracle: DtmTablebase, board: chess.Board) -> chess.Move | None:
    rated = _rate_moves(oracle, board, board.legal_moves)
    return max(rated, key=_dtm_preference).move if rated else None


def _best_line(
    oracle: DtmTablebase, board: chess.Board, move: chess.Move
) -> tuple[chess.Move, ...]:
    """Return the best play that begins with a move, some plies long."""
    board = board.copy(stack=False)
    line: list[chess.Move] = []
    best: chess.Move | None = move
    while best is not None and len(line) < _MAX_PV_PLIES:
        line.append(best)
        board.push(best)
        best = _best_move(oracle, board)
    return tuple(line)


def _converts_in_time(oracle: DtmTablebase, board: chess.Board, move: chess.Move) -> bool:
    """Tell whether best play after a winning move brings a capture or pawn move soon enough."""
    board = board.copy(stack=False)
    best: chess.Move | None = move
    while best is not None:
        board.push(best)
        if board.halfmove_clock == 0:
            return True
        if board.halfmove_clock >= FIFTY_MOVES:
            return board.is_checkmate()
        best = _best_move(oracle, board)
    return board.is_checkmate()


def _losing_reply_share(oracle: DtmTablebase, board: chess.Board, move: chess.Move) -> float:
    """Return the share of replies to a move that lose."""
    board.push(move)
    replies = _rate_moves(oracle, board, board.legal_moves) or []
    board.pop()
    return sum(reply.value != DRAWN and not reply.value & 1 for reply in replies) / max(
        len(replies), 1
    )
