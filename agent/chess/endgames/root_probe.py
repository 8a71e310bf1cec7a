"""Tablebase probing at the root of the search, which respects the fifty-move rule."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING

import chess

from agent.chess.endgames.dtm_tablebase import DRAWN, FIFTY_MOVES, DtmTablebase, makes_threefold
from agent.games.plain_chess import position_key
from agent.limits import Cp, Mate, Score

if TYPE_CHECKING:
    from agent.chess.endgames.builtin_tablebase import BuiltinTablebase
    from agent.chess.endgames.external_tablebases import SyzygyTablebase

_MAX_CHECKED_WINS = 3  # number of winning moves that are checked against the fifty-move rule
_MAX_CACHED_MOVES = 20_000

Line = tuple[chess.Move, ...]


@dataclass(frozen=True, slots=True)
class RootProbeResult:
    """The result of probing the tablebases for a root position.

    `moves` are the moves to consider, best first. `lines` has the score and the line of best play
    of each of them; if it is empty, a search must choose one. `hits` is the number of positions
    found in the tablebases.
    """

    moves: Line
    lines: tuple[tuple[Score, Line], ...] = ()
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
        self._own = _DtmProber(own) if own is not None else None
        self._gaviota = _DtmProber(gaviota) if gaviota is not None else None
        self._syzygy = syzygy
        tablebases = [each for each in (own, gaviota, syzygy) if each is not None]
        self._max_pieces = max((tablebase.max_pieces for tablebase in tablebases), default=0)

    def probe_root(
        self,
        board: chess.Board,
        moves: Sequence[chess.Move],
        lines: int = 1,
        stopped: Callable[[], bool] = lambda: False,
    ) -> RootProbeResult | None:
        """Return the best of `moves`, with at most `lines` lines, or None if unknown.

        Gaviota probes, which are slow, end when `stopped` returns True.
        """
        if chess.popcount(board.occupied) > self._max_pieces or board.castling_rights:
            return None
        if self._gaviota is not None:
            self._gaviota.stopped = stopped
        for prober in (self._own, self._gaviota):
            if prober is not None:
                probe_result = _probe_root(prober, board, moves, lines, stopped)
                if probe_result is not None:
                    return probe_result
        if self._syzygy is not None:
            best = self._syzygy.best_moves(board, moves)
            if best:
                return RootProbeResult(tuple(best), hits=len(moves))
        return None

    def mate_line(
        self, board: chess.Board, plies: int, stopped: Callable[[], bool] = lambda: False
    ) -> Line | None:
        """Return the line to a mate in `plies` plies from the built-in tables, or None.

        Long lines take about 10 ms. The result is None if `stopped` returns True.
        """
        if self._own is None or self._own.probe(board) != plies + 1:
            return None
        moves = self._own.play_out(board.copy(stack=False), plies + 1)
        line = tuple(takewhile(lambda _: not stopped(), moves))
        return line if len(line) == plies else None


class _DtmProber:
    """Probes a DTM tablebase. Probes return None when `stopped` returns True."""

    def __init__(self, tablebase: DtmTablebase) -> None:
        self._tablebase = tablebase
        self.stopped: Callable[[], bool] = lambda: False
        # The lines of successive iterations, and of the next search, have most positions in common.
        self._best_moves: dict[Hashable, chess.Move] = {}

    def probe(self, board: chess.Board) -> int | None:
        # Without its history, a board is converted faster.
        return None if self.stopped() else self._tablebase.probe(board.copy(stack=False))

    def play_out(self, board: chess.Board, value: int) -> Iterator[chess.Move]:
        """Play the fastest mate against the longest defence on `board`, whose value is `value`.

        Yield each move after it has been made. End early if a value is unknown.
        """
        if len(self._best_moves) > _MAX_CACHED_MOVES:
            self._best_moves.clear()
        while value > 1:
            value -= 1
            key = position_key(board)
            move = self._best_moves.get(key) or self._move_to(board, value)
            if move is None:
                return
            self._best_moves[key] = move
            board.push(move)
            yield move

    def _move_to(self, board: chess.Board, value: int) -> chess.Move | None:
        for move in board.legal_moves:
            board.push(move)
            found = self.probe(board)
            board.pop()
            if found == value:
                return move
        return None


@dataclass(frozen=True, slots=True)
class _RatedMove:
    """A move with the DTM value and the halfmove clock of the resulting position."""

    move: chess.Move
    value: int
    clock: int

    @property
    def is_certain(self) -> bool:
        """Whether the result stands: a mate comes before the fifty-move rule applies."""
        return self.value == DRAWN or self.clock + self.value - 1 <= FIFTY_MOVES

    @property
    def is_win(self) -> bool:
        return self.value & 1 == 1

    @property
    def score(self) -> Score:
        if self.value == DRAWN:
            return Cp(0)
        return Mate((self.value + 1) // 2 if self.is_win else -(self.value // 2))

    @property
    def preference(self) -> tuple[int, int]:
        """A sort key that is highest for fast wins and lowest for fast losses."""
        if self.value == DRAWN:
            return 0, 0
        if self.is_win:
            return 1 + self.is_certain, -self.value
        return -1 - self.is_certain, self.value


def _rate_moves(
    prober: _DtmProber, board: chess.Board, moves: Iterable[chess.Move]
) -> list[_RatedMove] | None:
    rated = []
    for move in moves:
        board.push(move)
        value = prober.probe(board)
        clock = board.halfmove_clock
        board.pop()
        if value is None:
            return None
        rated.append(_RatedMove(move, value, clock))
    return rated


def _probe_root(
    prober: _DtmProber,
    board: chess.Board,
    moves: Sequence[chess.Move],
    lines: int,
    stopped: Callable[[], bool],
) -> RootProbeResult | None:
    root = board.copy(stack=False)
    rated = _rate_moves(prober, root, moves)
    if not rated:
        return None
    hits = len(rated)
    wins = [r for r in rated if r.is_win]
    repeating = [r for r in wins if makes_threefold(board, r.move)]
    if len(repeating) < len(wins):
        rated = [replace(r, value=DRAWN) if r in repeating else r for r in rated]
    ordered = sorted(rated, key=lambda r: r.preference, reverse=True)
    best = ordered[0]
    if not best.is_certain:
        # The fifty-move rule decides.
        same = [r for r in ordered if r.is_win == best.is_win and not r.is_certain]
        chosen = _converting_move(prober, root, same) if best.is_win else None
        return RootProbeResult((chosen,) if chosen else tuple(r.move for r in same), hits=hits)
    if best.value == DRAWN:
        draws = [r for r in rated if r.value == DRAWN]
        best = max(draws, key=lambda r: _losing_reply_share(prober, root, r.move))
        ordered.remove(best)
        ordered.insert(0, best)
    leading = ordered[:lines]
    if not all(r.is_certain for r in leading):
        return RootProbeResult((best.move,), hits=hits)
    found: list[tuple[Score, Line]] = []
    for r in leading:
        if found and stopped():
            break
        after = root.copy(stack=False)
        after.push(r.move)
        found.append((r.score, (r.move, *prober.play_out(after, r.value))))
    return RootProbeResult(tuple(line[0] for _, line in found), tuple(found), hits)


def _converting_move(
    prober: _DtmProber, board: chess.Board, wins: Iterable[_RatedMove]
) -> chess.Move | None:
    """Return a winning move after which a capture or pawn move resets the halfmove clock in time.

    All `wins` come too late for a mate before the fifty-move rule applies.
    """
    fastest_first = sorted(wins, key=lambda r: r.value)
    for r in fastest_first[:_MAX_CHECKED_WINS]:
        after = board.copy(stack=False)
        after.push(r.move)
        line = prober.play_out(after, r.value)
        while 0 < after.halfmove_clock < FIFTY_MOVES and next(line, None):
            pass
        if after.halfmove_clock == 0 or after.is_checkmate():
            return r.move
    return None


def _losing_reply_share(prober: _DtmProber, board: chess.Board, move: chess.Move) -> float:
    board.push(move)
    replies = _rate_moves(prober, board, board.legal_moves) or []
    board.pop()
    return sum(reply.value != DRAWN and not reply.is_win for reply in replies) / max(
        len(replies), 1
    )
