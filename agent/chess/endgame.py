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

from agent.chess.oracle import DRAWN, FIFTY_MOVES, Oracle, repeats
from agent.limits import Cp, Mate, Score

if TYPE_CHECKING:
    from agent.chess.foreign_tables import SyzygyTables
    from agent.chess.own_tables import OwnTables

_LINE = 10  # plies of the line of play that is reported
_LATE_WINS = 3  # winning moves that are played out to see whether they beat the fifty-move rule


@dataclass(frozen=True, slots=True)
class Advice:
    """What tables say of a root position.

    moves: the only ones worth playing, best first. score, line: the value of the position and a
    line of best play, if it is certain; else a search decides between the moves. hits: positions
    looked up.
    """

    moves: tuple[chess.Move, ...]
    score: Score | None = None
    line: tuple[chess.Move, ...] = ()
    hits: int = 0


class Endgame:
    """All endgame tables that a search has. own: those the kernel uses inside the search."""

    def __init__(
        self,
        own: OwnTables | None = None,
        gaviota: Oracle | None = None,
        syzygy: SyzygyTables | None = None,
    ) -> None:
        self.own = own
        self._oracles: list[Oracle] = [oracle for oracle in (own, gaviota) if oracle is not None]
        self._syzygy = syzygy
        sizes = [oracle.size for oracle in self._oracles] + ([syzygy.size] if syzygy else [])
        self._size = max(sizes, default=0)

    def advise(
        self,
        board: chess.Board,
        moves: Sequence[chess.Move],
        stopped: Callable[[], bool] = lambda: False,
    ) -> Advice | None:
        """Say which of the legal moves to play; None if the tables do not know.

        stopped: asked again and again; once it is true, what is not known yet stays unknown.
        """
        if chess.popcount(board.occupied) > self._size or board.castling_rights:
            return None
        for oracle in self._oracles:
            advice = _consult(_Interruptible(oracle, stopped), board, moves)
            if advice is not None:
                return advice
        if self._syzygy is not None:
            best = self._syzygy.best(board, moves)
            if best:
                return Advice(tuple(best), hits=len(moves))
        return None


class _Interruptible:
    """An oracle that knows nothing any more once the search has been stopped."""

    def __init__(self, oracle: Oracle, stopped: Callable[[], bool]) -> None:
        self.size = oracle.size
        self._oracle = oracle
        self._stopped = stopped

    def value(self, board: chess.Board) -> int | None:
        """Return what a position is worth; see Oracle."""
        return None if self._stopped() else self._oracle.value(board)


@dataclass(frozen=True, slots=True)
class _Rated:
    """A root move. value: the oracle's, of the position after it; clock: of the fifty moves."""

    move: chess.Move
    value: int
    clock: int

    @property
    def certain(self) -> bool:
        """Whether the mate comes before the fifty-move rule, whatever is played."""
        return self.clock + self.value - 1 <= FIFTY_MOVES


def _rate(oracle: Oracle, board: chess.Board, moves: Iterable[chess.Move]) -> list[_Rated] | None:
    rated = []
    for move in moves:
        board.push(move)
        value = oracle.value(board)
        clock = board.halfmove_clock
        board.pop()
        if value is None:
            return None
        rated.append(_Rated(move, value, clock))
    return rated


def _preference(rated: _Rated) -> int:
    """Rate a move by distance alone: a fast win before a slow one, a draw, then a slow loss."""
    if rated.value == DRAWN:
        return 0
    return 1000 - rated.value if rated.value & 1 else rated.value - 1000


def _consult(oracle: Oracle, board: chess.Board, moves: Sequence[chess.Move]) -> Advice | None:
    root = board.copy(stack=False)
    rated = _rate(oracle, root, moves)
    if not rated:
        return None
    hits = len(rated)
    wins = [r for r in rated if r.value & 1]
    if wins:
        wins = [r for r in wins if not repeats(board, r.move)] or wins
        return _win(oracle, root, wins, hits)
    draws = [r for r in rated if r.value == DRAWN]
    if draws:
        best = max(draws, key=lambda r: _traps(oracle, root, r.move))
        return Advice((best.move,), Cp(0), (best.move,), hits)
    saved = [r for r in rated if not r.certain]
    if saved:
        return Advice(tuple(r.move for r in saved), hits=hits)
    best = max(rated, key=_preference)
    return Advice((best.move,), Mate(-(best.value // 2)), _line(oracle, root, best.move), hits)


def _win(oracle: Oracle, root: chess.Board, wins: Iterable[_Rated], hits: int) -> Advice:
    """Choose between winning moves: the fastest mate that comes before the fifty-move rule.

    If none does for certain, a capture or pawn move on the way may start the count anew.
    """
    ordered = sorted(wins, key=_preference, reverse=True)
    for fastest in ordered:
        if fastest.certain:
            line = _line(oracle, root, fastest.move)
            return Advice((fastest.move,), Mate((fastest.value + 1) // 2), line, hits)
    for timely in ordered[:_LATE_WINS]:
        if _converts_in_time(oracle, root, timely.move):
            return Advice((timely.move,), hits=hits)
    return Advice(tuple(r.move for r in ordered), hits=hits)


def _best(oracle: Oracle, board: chess.Board) -> chess.Move | None:
    rated = _rate(oracle, board, board.legal_moves)
    return max(rated, key=_preference).move if rated else None


def _line(oracle: Oracle, board: chess.Board, move: chess.Move) -> tuple[chess.Move, ...]:
    """Return the best play that begins with a move, some plies long."""
    board = board.copy(stack=False)
    line: list[chess.Move] = []
    best: chess.Move | None = move
    while best is not None and len(line) < _LINE:
        line.append(best)
        board.push(best)
        best = _best(oracle, board)
    return tuple(line)


def _converts_in_time(oracle: Oracle, board: chess.Board, move: chess.Move) -> bool:
    """Tell whether best play after a winning move brings a capture or pawn move soon enough."""
    board = board.copy(stack=False)
    best: chess.Move | None = move
    while best is not None:
        board.push(best)
        if board.halfmove_clock == 0:
            return True
        if board.halfmove_clock >= FIFTY_MOVES:
            return board.is_checkmate()
        best = _best(oracle, board)
    return board.is_checkmate()


def _traps(oracle: Oracle, board: chess.Board, move: chess.Move) -> float:
    """Return the share of replies to a move that lose."""
    board.push(move)
    replies = _rate(oracle, board, board.legal_moves) or []
    board.pop()
    return sum(reply.value != DRAWN and not reply.value & 1 for reply in replies) / max(
        len(replies), 1
    )
